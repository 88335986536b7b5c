/** Runs the built program, kills it at a journal write, and resumes it. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mapWithLimit } from '../fakes/map-with-limit.js';
import { randomSeed } from '../setup/random-seed.js';
import { IS_WIDE } from '../setup/wide.js';
import type { PrintScene } from './workspace.js';

/** Preloads the script that counts the writes and kills the process. */
export const KILLER = { NODE_OPTIONS: `--import ${resolve('tests/laws/kill-at-write.mjs')}` };

const WHEN = ['torn', 'after', 'before'] as const;

/** Time of the kill at a write: neighbouring points and every third point differ. */
export const whenAt = (at: number): string =>
  WHEN[(at + Math.floor(at / WHEN.length)) % WHEN.length] ?? 'before';

/** `npm run test:soak` kills at every write. */
const STRIDE = IS_WIDE ? 1 : 3;
const OFFSET = randomSeed % STRIDE;

/**
 * Writes at which runs are killed: every third write, with a random offset. `turn` shifts the
 * choice, so that three callers with the turns 0, 1 and 2 cover each write once.
 */
export const killPoints = (first: number, last: number, turn = 0): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index).filter(
    (at) => (at + turn + OFFSET) % STRIDE === 0,
  );

/** Every `nth` of the points, with a random offset. `npm run test:soak` takes all. */
export const someOf = <Point>(points: readonly Point[], nth: number): readonly Point[] =>
  points.filter((_, index) => IS_WIDE || index % nth === randomSeed % nth);

type Ended = Awaited<ReturnType<PrintScene['run']>>;

/** Runs to the end and counts the writes. */
export const countedRun = async (
  scene: PrintScene,
  flags: readonly string[],
): Promise<{ readonly ended: Ended; readonly writes: number }> => {
  const file = join(scene.home, 'count');
  const env = { ...KILLER, KILL_COUNT_FILE: file };
  const ended = await scene.run(['Do it.', '--session-id', 'whole', ...flags], env);
  return { ended, writes: Number(readFileSync(file, 'utf8')) };
};

/** Kills session `kill` and resumes it. Sends the prompt again if it was not recorded. */
export const killThenResume = async (
  scene: PrintScene,
  at: number,
  flags: readonly string[],
): Promise<{ readonly killed: NodeJS.Signals | null; readonly after: Ended }> => {
  const env = { ...KILLER, KILL_AT: String(at), KILL_WHEN: whenAt(at) };
  const { signal: killed } = await scene.run(['Do it.', '--session-id', 'kill', ...flags], env);
  const resume = ['--resume', 'kill', ...flags];
  const after = await scene.run(resume);
  const isPromptMissing = !scene.journal('kill').some(({ type }) => type === 'letter.received');
  return { killed, after: isPromptMissing ? await scene.run(['Do it.', ...resume]) : after };
};

interface KillResult {
  readonly killed: NodeJS.Signals | null;
  readonly faults: readonly string[];
}

/** Results with faults. `width` limits the parallel runs, because the machine has two cores. */
export const failuresAt = async <Result extends KillResult>(
  points: readonly number[],
  width: number,
  run: (at: number) => Promise<Result>,
): Promise<readonly Result[]> => {
  const ended = await mapWithLimit(points, width, run);
  return ended.filter(({ killed, faults }) => killed !== 'SIGKILL' || faults.length > 0);
};
