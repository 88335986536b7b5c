/**
 * JavaScript engine: searches files without ripgrep, with the same results.
 *
 * A JavaScript regular expression can take exponential time on some lines. So the search runs in
 * slices with a V8 time-out. On a time-out the file is skipped and counted, and the search
 * continues.
 */
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
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
  async prepare(query, signal) {
    const regex = rustRegex(query.pattern, query);
    return async function* (root, files, skipped) {
      for (const file of files) {
        if (signal.aborted) return;
        if (skipped.tooSlow >= MAX_SLOW_FILES) {
          skipped.tooSlow += 1;
          continue;
        }
        const text = await textOf(join(root, file), skipped);
        if (text !== undefined)
          yield* searchFile(file, new LineScan(text, regex, query), query, skipped);
        await yieldToEventLoop();
      }
    };
  },
});

const textOf = async (path: string, skipped: SkippedFiles): Promise<string | undefined> => {
  const bytes = await boundedRead(path, MAX_SEARCHED_FILE_BYTES);
  if (bytes !== undefined) {
    return isBinaryContent(bytes)
      ? undefined
      : new TextDecoder(utf16Encoding(bytes) ?? 'utf-8').decode(bytes);
  }
  const isTooLarge = (await probeFile(path)) === 'too-large';
  skipped[isTooLarge ? 'tooLarge' : 'unreadable'] += 1;
  return undefined;
};

async function* searchFile(
  file: string,
  scan: LineScan,
  { mode }: MatchQuery,
  skipped: SkippedFiles,
): AsyncGenerator<RawHit> {
  try {
    while (runWithTimeout(SLICE_MS, () => scan.advance(SLICE_LINES))) await yieldToEventLoop();
  } catch (error) {
    if (!isTimeout(error)) throw error;
    skipped.tooSlow += 1;
    return;
  }
  if (scan.count === 0) return;
  if (mode === 'files') yield { file };
  else if (mode === 'count') yield { file, count: scan.count };
  else for (const row of scan.rows) yield { file, ...row };
}

/** Runs `work` with a time-out that also interrupts a regular expression. */
const runWithTimeout = (milliseconds: number, work: () => boolean): boolean => {
  const global = globalThis as { skeinSearchSlice?: () => boolean };
  global.skeinSearchSlice = work;
  try {
    return SLICE.runInThisContext({ timeout: milliseconds }) === true;
  } finally {
    delete global.skeinSearchSlice;
  }
};

const SLICE = new Script('skeinSearchSlice()');

const isTimeout = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
