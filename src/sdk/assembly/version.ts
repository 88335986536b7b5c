/** Version in package.json, set by the build. Undefined if Skein runs from source. */
declare const SKEIN_VERSION: string | undefined;

/** Version of Skein, or `source`. */
export const VERSION: string = typeof SKEIN_VERSION === 'string' ? SKEIN_VERSION : 'source';
