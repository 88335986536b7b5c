/**
 * Ripgrep engine: searches the given files with ripgrep.
 *
 * Ripgrep reads no configuration, never takes a pattern for a flag, gets no secrets in its
 * environment, and is killed when the search is aborted. The unread pipe blocks ripgrep, so output
 * does not pile up in memory.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { SearchError } from '../../protocol/tools/file-search.js';
import { ByteReader } from './byte-reader.js';
import {
  type MatchEngine,
  type MatchQuery,
  type RawHit,
  type SkippedFiles,
  shownLine,
} from './match-engine.js';
import { badPattern, ONE_LINE_ONLY } from './regex/bad-pattern.js';

const MAX_PATH_BYTES = 64 * 1024;
/** Enough bytes for `MAX_HIT_LINE_LENGTH` characters. */
const LINE_BYTES = 16 * 1024;
const STDERR_BYTES = 64 * 1024;
const NUL = 0;
const NEWLINE = 10;

const ALWAYS = [
  '--no-config',
  '--no-ignore',
  '--color=never',
  '--no-heading',
  '--with-filename',
  '--null',
  // The caller excludes binary files, for both engines alike.
  '--text',
  '--crlf',
  '--no-mmap',
  // A single thread keeps the order of the files.
  '--threads=1',
  '--no-context-separator',
];

export const ripgrepEngine = (
  program: string,
  environment: Readonly<Record<string, string>>,
): MatchEngine => ({
  name: 'ripgrep',
  async prepare(query, signal) {
    const flags = [...ALWAYS, ...flagsOf(query)];
    const start = (cwd: string, operands: readonly string[]) =>
      spawn(program, [...flags, '-e', query.pattern, '--', ...operands], {
        cwd,
        env: environment,
        signal,
        killSignal: 'SIGKILL',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    await tryPattern(start('/', ['-']));
    return (root, files, skipped) => {
      // Start now, although the hits are read later.
      const run = follow(start(root, files));
      // Node discards the output of an exited child unless a 'readable' listener is attached.
      run.stdout.on('readable', () => undefined);
      return hits(run, query.mode, skipped, signal);
    };
  },
});

const flagsOf = ({ mode, before, after, ignoreCase, multiline }: MatchQuery): readonly string[] => [
  ...(ignoreCase ? ['--ignore-case'] : ['--case-sensitive']),
  ...(multiline ? ['--multiline', '--multiline-dotall'] : []),
  ...(mode === 'files' ? ['--files-with-matches'] : []),
  ...(mode === 'count' ? [multiline ? '--count-matches' : '--count'] : []),
  ...(mode === 'lines' ? ['--line-number', `-B${before}`, `-A${after}`] : []),
];

interface Run {
  readonly stdout: Readable;
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

const follow = (child: Child): Run => {
  let errors = '';
  let failure: unknown;
  child.on('error', (error) => {
    failure = error;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < STDERR_BYTES) errors += text;
  });
  // A child that failed to start emits 'close' without 'exit'.
  const ended = once(child, 'close').then(
    ([code]) => ({ code: code as number | null, errors: errors || reasonOf(failure) }),
    () => ({ code: null, errors: reasonOf(failure) }),
  );
  return { stdout: child.stdout, ended };
};

/** Runs the pattern on empty input, so that every error is about the pattern. Rejects with SearchError. */
const tryPattern = async (child: Child): Promise<void> => {
  const { stdout, ended } = follow(child);
  stdout.resume();
  const { code, errors } = await ended;
  if (code === 2) throw badPattern(reasonIn(errors));
};

const reasonIn = (errors: string): string => {
  if (errors.includes('is not allowed in a regex')) return ONE_LINE_ONLY;
  const reason = /^error: (.+)$/m.exec(errors)?.[1] ?? errors.replace(/^rg: /, '').split('\n')[0];
  return (reason ?? '').replace(/\.$/, '');
};

async function* hits(
  { stdout, ended }: Run,
  mode: MatchQuery['mode'],
  skipped: SkippedFiles,
  signal: AbortSignal,
): AsyncGenerator<RawHit> {
  try {
    const reader = new ByteReader(stdout);
    for (;;) {
      const path = await reader.until(NUL, MAX_PATH_BYTES);
      if (path === undefined) break;
      const file = path.bytes.toString('utf8');
      if (mode === 'files') yield { file };
      else {
        const rest = await reader.until(NEWLINE, LINE_BYTES);
        if (rest === undefined) break;
        const text = rest.bytes.toString('utf8');
        yield mode === 'count' ? { file, count: Number(text) } : { file, ...lineOf(text) };
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const { code, errors } = await ended;
  if (signal.aborted || code === 0 || code === 1) return;
  // Ripgrep prints a line for each unreadable file.
  const unreadable = errors.match(/\(os error \d+\)$/gm)?.length ?? 0;
  if (code !== 2 || unreadable === 0) throw new SearchError(`ripgrep failed: ${errors.trim()}`);
  skipped.unreadable += unreadable;
}

/** `12:text` is a match, `13-text` a context line. */
const lineOf = (record: string) => {
  const digits = /^\d+/.exec(record)?.[0] ?? '';
  const text = shownLine(record.slice(digits.length + 1));
  return { line: Number(digits), text, isMatch: record[digits.length] === ':' };
};

const reasonOf = (failure: unknown) => (failure instanceof Error ? failure.message : '');
