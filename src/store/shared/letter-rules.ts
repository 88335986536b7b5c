/** What every mailbox holds letters to: where they may go, how long they may be, and how many may wait. */
import { UsageError } from '../../protocol/errors.js';
import {
  LONGEST_LETTER,
  letterSchema,
  type MailLetter,
  MOST_WAITING_LETTERS,
} from '../../protocol/session/mailbox.js';

/** Addresses become names of folders. */
const ADDRESS = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

export const isAddress = (address: string): boolean => ADDRESS.test(address);

export const checkAddress = (address: string): string => {
  if (isAddress(address)) return address;
  throw new UsageError(
    `"${String(address).slice(0, 80)}" cannot be an address: use up to 128 letters, digits, - and _.`,
  );
};

/** The letter as JSON; throws a UsageError for one that nobody could be given. */
export const writeLetter = (letter: MailLetter): string => {
  checkAddress(letter.to);
  if (letter.id === '' || letter.from === '') {
    throw new UsageError('A letter needs an id and a sender.');
  }
  const text = JSON.stringify(letter);
  const length = Buffer.byteLength(text);
  if (length <= LONGEST_LETTER) return text;
  throw new UsageError(
    `The letter to ${letter.to} has ${length} bytes and ${LONGEST_LETTER} are the most; put the long part in a file and send its path.`,
  );
};

export const noRoom = (address: string): UsageError =>
  new UsageError(
    `${MOST_WAITING_LETTERS} letters wait for ${address} already; send it again when some of them have been read.`,
  );

export const refuseIfFull = (address: string, waiting: number): void => {
  if (waiting >= MOST_WAITING_LETTERS) throw noRoom(address);
};

export const refuseSecond = (address: string): never => {
  throw new UsageError(`Somebody reads the letters to ${address} already; close that inbox first.`);
};

/** A sentence when it is no letter to this address; never throws. */
export const readLetter = (text: string, address: string): MailLetter | string => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'It is not JSON.';
  }
  const { data, error } = letterSchema.safeParse(value);
  if (data === undefined) return `It is no letter: "${error.issues[0]?.path.join('.')}" is wrong.`;
  if (data.id === '') return 'It is no letter: its id is empty.';
  return data.to === address ? data : `It is addressed to "${data.to.slice(0, 80)}".`;
};
