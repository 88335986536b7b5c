/** Dead letters of an address: letters that could not be delivered, with the reason, for people. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  type DeadLetter,
  letterSchema,
  MAX_DEAD_LETTERS,
} from '../../../protocol/session/mailbox.js';
import { listNames } from '../io/list-names.js';
import { readRegularFile } from '../io/open-regular-file.js';
import { makeAddressFolder } from './make-address-folder.js';

export const deadLetter = letterSchema.extend({ reason: z.string() });
const SUFFIX = '.json';
/** Suffix of a foreign file beside the dead letter that explains it. */
const FOREIGN = '.foreign';

/**
 * Idempotent: a reader that dies here writes the dead letter again under the same name. Removes the
 * oldest dead letters.
 */
export const moveToDeadLetters = (
  root: string,
  address: string,
  name: string,
  letter: DeadLetter,
): void => {
  makeAddressFolder(root, address, 'dead');
  const folder = join(root, address, 'dead');
  const existing = listNames(folder).filter((file) => file.endsWith(SUFFIX));
  for (const oldest of existing.slice(0, Math.max(0, existing.length + 1 - MAX_DEAD_LETTERS))) {
    fs.rmSync(join(folder, oldest), { force: true });
    fs.rmSync(join(folder, `${oldest}${FOREIGN}`), { recursive: true, force: true });
  }
  const fileName = safeName(name);
  const draft = join(root, address, `${fileName}.dead.draft`);
  fs.writeFileSync(draft, JSON.stringify(letter), { mode: 0o600 });
  fs.renameSync(draft, join(folder, fileName));
};

/** Moves a file that is not a letter to the dead letters, unchanged and without following links. */
export const moveForeignFile = (
  root: string,
  address: string,
  name: string,
  reason: string,
): void => {
  const relativePath = `mail/${address}/dead/${safeName(name)}${FOREIGN}`;
  const why = `${JSON.stringify(name.slice(0, 100))} is not a letter. ${reason} It is now in ${relativePath}.`;
  const foreign = { id: safeName(name), from: 'unknown', to: address, body: null };
  moveToDeadLetters(root, address, name, { ...foreign, sentAt: 0, reason: why });
  const target = join(root, address, 'dead', `${safeName(name)}${FOREIGN}`);
  fs.renameSync(join(root, address, 'new', name), target);
};

export const readDeadLetters = (folder: string): readonly DeadLetter[] =>
  listNames(join(folder, 'dead'))
    .filter((file) => file.endsWith(SUFFIX))
    .slice(-MAX_DEAD_LETTERS)
    .flatMap((file) => readDeadLetter(join(folder, 'dead', file)) ?? []);

const readDeadLetter = (path: string): DeadLetter | undefined => {
  try {
    return deadLetter.safeParse(JSON.parse(readRegularFile(path).toString())).data;
  } catch {
    return undefined;
  }
};

/** Returns a safe file name. A name that Skein did not give is replaced by its digest. */
const safeName = (name: string): string =>
  /^[\w.-]{1,100}\.json$/.test(name)
    ? name
    : `foreign-${createHash('sha256').update(name).digest('hex').slice(0, 16)}${SUFFIX}`;
