/** Dead letters of one address: what could not be delivered is kept, with the reason, for people to see. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  type DeadLetter,
  letterSchema,
  MOST_DEAD_LETTERS,
} from '../../../protocol/session/mailbox.js';
import { readRegular } from '../io/regular-file.js';
import { makePlace, namesIn } from '../io/shared-folders.js';

export const deadLetter = letterSchema.extend({ reason: z.string() });
const ENDING = '.json';
/** Beside the letter that says why: the thing itself, as it was found. */
const FOREIGN = '.foreign';

/** Written beside and renamed: a reader that dies here buries it once more, under the same name. */
export const moveToDeadLetters = (
  root: string,
  address: string,
  name: string,
  letter: DeadLetter,
): void => {
  makePlace(root, address, 'dead');
  const folder = join(root, address, 'dead');
  const graves = namesIn(folder).filter((grave) => grave.endsWith(ENDING));
  for (const oldest of graves.slice(0, Math.max(0, graves.length + 1 - MOST_DEAD_LETTERS))) {
    fs.rmSync(join(folder, oldest), { force: true });
    fs.rmSync(join(folder, `${oldest}${FOREIGN}`), { recursive: true, force: true });
  }
  const grave = graveName(name);
  const draft = join(root, address, `${grave}.dead.draft`);
  fs.writeFileSync(draft, JSON.stringify(letter), { mode: 0o600 });
  fs.renameSync(draft, join(folder, grave));
};

/** Something among the letters that is none: it is moved as it stands, and nobody follows it. */
export const buryForeign = (root: string, address: string, name: string, reason: string): void => {
  const kept = `mail/${address}/dead/${graveName(name)}${FOREIGN}`;
  const why = `${JSON.stringify(name.slice(0, 100))} is not a letter. ${reason} It lies in ${kept}.`;
  const stranger = { id: graveName(name), from: 'unknown', to: address, body: null };
  moveToDeadLetters(root, address, name, { ...stranger, sentAt: 0, reason: why });
  const target = join(root, address, 'dead', `${graveName(name)}${FOREIGN}`);
  fs.renameSync(join(root, address, 'new', name), target);
};

export const readDeadLetters = (folder: string): readonly DeadLetter[] =>
  namesIn(join(folder, 'dead'))
    .filter((grave) => grave.endsWith(ENDING))
    .slice(-MOST_DEAD_LETTERS)
    .flatMap((grave) => readGrave(join(folder, 'dead', grave)) ?? []);

const readGrave = (path: string): DeadLetter | undefined => {
  try {
    return deadLetter.safeParse(JSON.parse(readRegular(path).toString())).data;
  } catch {
    return undefined;
  }
};

/** Names that we gave are short and harmless; others become so. */
const graveName = (name: string): string =>
  /^[\w.-]{1,100}\.json$/.test(name)
    ? name
    : `foreign-${createHash('sha256').update(name).digest('hex').slice(0, 16)}${ENDING}`;
