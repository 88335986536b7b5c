/** Returns the text as one printable line: JSON-quoted if it contains control characters. */
export const printableLine = (text: string): string =>
  /\p{Cc}/u.test(text) ? JSON.stringify(text) : text;
