/** Decodes the bytes of memory files. */

const PROBE_BYTES = 8_192;

/** True if the first bytes contain a zero, as in programs, images and UTF-16 text. */
export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, PROBE_BYTES).includes(0);

/** Decodes UTF-8. Invalid bytes become U+FFFD, the byte order mark is dropped, line ends become `\n`. */
export const decodeText = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8').decode(bytes).replaceAll(/\r\n?/g, '\n');
