/** A run of the built program that is killed at a write to a journal, and the one that goes on from there. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { aFewAtOnce } from '../fakes/a-few-at-once.js';
import { IS_WIDE } from '../setup/wide.js';
import type { Place } from './workspace.js';

/** Loaded into a process, it counts the writes, and kills where it is told to. */
export const KILLER = { NODE_OPTIONS: `--import ${resolve('tests/laws/kill-at-write.mjs')}` };

const WHEN = ['torn', 'after', 'before'] as const;

/** When the process is killed at a write: neighbouring points and every third point differ. */
export const whenAt = (at: number): string =>
  WHEN[(at + Math.floor(at / WHEN.length)) % WHEN.length] ?? 'before';

/** `npm run test:soak` kills at every write. */
const STRIDE = IS_WIDE ? 1 : 3;
const OFFSET = Math.floor(Math.random() * STRIDE);

/**
 * The writes at which runs are killed: every third one, and another third from run to run. `turn` shifts the
 * choice, so that three callers with the turns 0, 1 and 2 try each write once.
 */
export const killPoints = (first: number, last: number, turn = 0): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index).filter(
    (at) => (at + turn + OFFSET) % STRIDE === 0,
  );

type Ended = Awaited<ReturnType<Place['run']>>;

/** To its end, with the number of its writes. */
export const countedRun = async (
  place: Place,
  flags: readonly string[],
): Promise<{ readonly ended: Ended; readonly writes: number }> => {
  const file = join(place.home, 'count');
  const env = { ...KILLER, KILL_COUNT_FILE: file };
  const ended = await place.run(['Do it.', '--session-id', 'whole', ...flags], env);
  return { ended, writes: Number(readFileSync(file, 'utf8')) };
};

/** The session is called `kill`. One that died before it had heard anything is told again. */
export const killThenResume = async (
  place: Place,
  at: number,
  flags: readonly string[],
): Promise<{ readonly killed: NodeJS.Signals | null; readonly after: Ended }> => {
  const env = { ...KILLER, KILL_AT: String(at), KILL_WHEN: whenAt(at) };
  const { signal: killed } = await place.run(['Do it.', '--session-id', 'kill', ...flags], env);
  const resume = ['--resume', 'kill', ...flags];
  const after = await place.run(resume);
  const isUnheard = !place.journal('kill').some(({ type }) => type === 'letter.received');
  return { killed, after: isUnheard ? await place.run(['Do it.', ...resume]) : after };
};

interface Tried {
  readonly killed: NodeJS.Signals | null;
  readonly faults: readonly string[];
}

/** What went wrong at any of the points, a few at once: two cores, and more only wait for each other. */
export const wrongAt = async <One extends Tried>(
  points: readonly number[],
  width: number,
  run: (at: number) => Promise<One>,
): Promise<readonly One[]> => {
  const ended = await aFewAtOnce(points, width, run);
  return ended.filter((one) => one.killed !== 'SIGKILL' || one.faults.length > 0);
};
