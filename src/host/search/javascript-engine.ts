/**
 * JavaScript engine: searches files without ripgrep, with the same results.
 *
 * A JavaScript regular expression can take exponential time on some lines. So the search runs in
 * slices with a V8 time-out. On a time-out the file is skipped and counted, and the search
 * continues.
 */
import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { Script } from 'node:vm';
import { MAX_SEARCHED_FILE_BYTES } from '../../protocol/tools/file-search.js';
import { boundedRead, isBinaryContent, probeFile, utf16Encoding } from '../files/bounded-read.js';
import { LineScan } from './line-scan.js';
import type { MatchEngine, MatchQuery, RawHit, SkippedFiles } from './match-engine.js';
import { rustRegex } from './regex/rust-regex.js';

const SLICE_MS = 500;
const SLICE_LINES = 20_000;
/** After this many slow files the pattern is the cause, so all remaining files are skipped. */
const MAX_SLOW_FILES = 5;

export const javascriptEngine = (): MatchEngine => ({
  name: 'javascript',
  async prepare(wanted, signal) {
    const regex = rustRegex(wanted.pattern, wanted);
    return async function* (root, files, troubles) {
      for (const file of files) {
        if (signal.aborted) return;
        if (troubles.tooSlow >= MAX_SLOW_FILES) {
          troubles.tooSlow += 1;
          continue;
        }
        const text = await textOf(join(root, file), troubles);
        if (text !== undefined)
          yield* look(file, new LineScan(text, regex, wanted), wanted, troubles);
        await otherWork();
      }
    };
  },
});

const textOf = async (path: string, troubles: SkippedFiles): Promise<string | undefined> => {
  const bytes = await boundedRead(path, MAX_SEARCHED_FILE_BYTES);
  if (bytes !== undefined) {
    return isBinaryContent(bytes)
      ? undefined
      : new TextDecoder(utf16Encoding(bytes) ?? 'utf-8').decode(bytes);
  }
  const isTooLarge = (await probeFile(path)) === 'too-large';
  troubles[isTooLarge ? 'tooLarge' : 'unreadable'] += 1;
  return undefined;
};

async function* look(
  file: string,
  scan: LineScan,
  { mode }: MatchQuery,
  troubles: SkippedFiles,
): AsyncGenerator<RawHit> {
  try {
    while (within(SLICE_MS, () => scan.advance(SLICE_LINES))) await otherWork();
  } catch (error) {
    if (!isTimeout(error)) throw error;
    troubles.tooSlow += 1;
    return;
  }
  if (scan.count === 0) return;
  if (mode === 'files') yield { file };
  else if (mode === 'count') yield { file, count: scan.count };
  else for (const row of scan.rows) yield { file, ...row };
}

/** Runs `work` with a time-out that also interrupts a regular expression. */
const within = (milliseconds: number, work: () => boolean): boolean => {
  const place = globalThis as { skeinSearchSlice?: () => boolean };
  place.skeinSearchSlice = work;
  try {
    return SLICE.runInThisContext({ timeout: milliseconds }) === true;
  } finally {
    delete place.skeinSearchSlice;
  }
};

const SLICE = new Script('skeinSearchSlice()');

const isTimeout = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
