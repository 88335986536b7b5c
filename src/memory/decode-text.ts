/** Decodes the bytes of memory files. */

const PROBE_BYTES = 8_192;

/** Text has no zeros near its beginning; what has is a program, a picture, or of another encoding. */
export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, PROBE_BYTES).includes(0);

/** Broken bytes become U+FFFD, the byte order mark goes, and every line ends alike. */
export const decodeText = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8').decode(bytes).replaceAll(/\r\n?/g, '\n');
