/** Formats and parses letters, and holds the rules of every mailbox for addresses and limits. */

import {
  letterSchema,
  MAX_LETTER_LENGTH,
  MAX_UNREAD_LETTERS,
  type MailLetter,
} from '../../protocol/session/mailbox.js';
import { UsageError } from '../../protocol/skein-error.js';

/** Addresses become folder names. */
const ADDRESS = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

export const isAddress = (address: string): boolean => ADDRESS.test(address);

/** Returns the address. Throws UsageError if it is invalid. */
export const checkAddress = (address: string): string => {
  if (isAddress(address)) return address;
  throw new UsageError(
    `"${String(address).slice(0, 80)}" cannot be an address: use up to 128 letters, digits, - and _.`,
  );
};

/** Returns the letter as JSON. Throws UsageError if it is invalid or too long. */
export const formatLetter = (letter: MailLetter): string => {
  checkAddress(letter.to);
  if (letter.id === '' || letter.from === '') {
    throw new UsageError('A letter needs an id and a sender.');
  }
  const text = JSON.stringify(letter);
  const length = Buffer.byteLength(text);
  if (length <= MAX_LETTER_LENGTH) return text;
  throw new UsageError(
    `The letter to ${letter.to} has ${length} bytes; the limit is ${MAX_LETTER_LENGTH}. Put the long part in a file and send its path.`,
  );
};

export const mailboxFull = (address: string): UsageError =>
  new UsageError(
    `${MAX_UNREAD_LETTERS} letters wait for ${address} already; send it again when some of them have been read.`,
  );

export const refuseIfFull = (address: string, waiting: number): void => {
  if (waiting >= MAX_UNREAD_LETTERS) throw mailboxFull(address);
};

export const refuseSecondReader = (address: string): never => {
  throw new UsageError(`The mailbox of ${address} has a reader already; close that inbox first.`);
};

/**
 * Parses a letter. Returns a sentence if the text is not a letter to this address. Never throws.
 */
export const parseLetter = (text: string, address: string): MailLetter | string => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'It is not JSON.';
  }
  const { data, error } = letterSchema.safeParse(value);
  if (data === undefined)
    return `It is not a letter: "${error.issues[0]?.path.join('.')}" is invalid.`;
  if (data.id === '') return 'It is not a letter: its id is empty.';
  return data.to === address ? data : `It is addressed to "${data.to.slice(0, 80)}".`;
};
