/** Set by the build from package.json; a run from source says so. */
declare const SKEIN_VERSION: string | undefined;

export const VERSION: string = typeof SKEIN_VERSION === 'string' ? SKEIN_VERSION : 'source';
