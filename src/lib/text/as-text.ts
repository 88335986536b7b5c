import { textOr } from './text-or.js';

/** Returns the value if it is a string, else an empty string. */
export const asText = (value: unknown): string => textOr(value, '');
