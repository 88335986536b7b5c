/** Diagnostics channel on which the program reports each model request to its launcher. */
export const MODEL_REQUEST = 'skein:model-request';
