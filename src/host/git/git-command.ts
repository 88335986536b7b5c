/**
 * Runs git in a repository that nobody has reason to trust. Its configuration, its attributes and its
 * hooks can all name programs; git is told to start none of them, and only looks.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute, normalize } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { isPathInside } from '../../lib/paths/is-path-inside.js';
import { signalProcessGroup } from '../process/ownership/signal-process-group.js';
import type { GitLocation } from './find-git-directory.js';

export interface GitResult {
  /** Null when it was ended because it said too much. */
  readonly code: number | null;
  readonly text: string;
  /** The same, as it was said. */
  readonly bytes: Buffer;
  /** What it complained of, where somebody listens. */
  readonly stderr: string;
}

/** Undefined when git cannot be started or takes too long. Never rejects. */
export type GitCommand = (
  args: readonly string[],
  mostBytes: number,
  input?: Uint8Array,
  more?: Environment,
) => Promise<GitResult | undefined>;

/** What git is told besides, by whoever lets it write. */
export interface GitCommandOptions {
  readonly env?: Environment;
  readonly settings?: readonly GitSetting[];
  /** Its complaints are kept. */
  readonly keepsStderr?: boolean;
}

type Environment = Readonly<Record<string, string>>;

const CONFIG_BYTES = 1024 * 1024;
/** Filters, and programs that merge. */
const MAX_FILTERS = 500;

/** Undefined when this git cannot be kept from running what the repository names. `signal` ends all. */
export const hardenedGit = async (
  cwd: string,
  { top, directory }: GitLocation,
  environment: Environment,
  signal: AbortSignal,
  { env = {}, settings: wanted = [], keepsStderr: listens = false }: GitCommandOptions = {},
): Promise<GitCommand | undefined> => {
  const base = {
    ...withoutGit(environment),
    ...(top !== undefined && { GIT_WORK_TREE: top }),
    ...READ_ONLY_ENVIRONMENT,
    PATH: outsidePath(environment.PATH ?? '', top ?? directory, environment.HOME),
    ...env,
  };
  const withSettings =
    (settings: readonly GitSetting[]): GitCommand =>
    (args, mostBytes, input, more = {}) =>
      run(args, {
        cwd,
        signal,
        maxBytes: mostBytes,
        input,
        keepsStderr: listens,
        env: { ...base, ...asEnvironment(settings), ...more },
      });
  // A git from before 2.31 does not hear settings in the environment, and then this one is not listed.
  const canary = `skein.c${randomBytes(8).toString('hex')}`;
  const listing = await withSettings([...SAFE_SETTINGS, [canary, '']])(
    ['config', '--list', '--name-only', '-z'],
    CONFIG_BYTES,
  );
  if (listing?.code !== 0) return undefined;
  const keys = listing.text.split('\0');
  const filters = new Set(keys.flatMap((key) => /^filter\.(.*)\.[^.]*$/s.exec(key)?.[1] ?? []));
  const drivers = keys.filter((key) => /^merge\..*\.driver$/s.test(key));
  if (!keys.includes(canary) || filters.size + drivers.length > MAX_FILTERS) return undefined;
  return withSettings([
    ...SAFE_SETTINGS,
    ...wanted,
    ...[...filters].flatMap(withoutFilter),
    ...drivers.map(withoutDriver),
  ]);
};

export type GitSetting = readonly [key: string, value: string];

/** Stronger than whatever the repository says. */
const SAFE_SETTINGS: readonly GitSetting[] = [
  ['core.fsmonitor', ''],
  ['core.hooksPath', '/dev/null'],
  ['core.quotePath', 'false'],
  ['log.showSignature', 'false'],
  ['status.submoduleSummary', 'false'],
  ['protocol.allow', 'never'],
];

/** A filter without a program passes files on as they are. */
const withoutFilter = (name: string): readonly GitSetting[] => [
  [`filter.${name}.clean`, ''],
  [`filter.${name}.smudge`, ''],
  [`filter.${name}.process`, ''],
  [`filter.${name}.required`, 'false'],
];

/** A program that merges and fails has left a conflict. */
const withoutDriver = (key: string): GitSetting => [key, 'false'];

/** No locks, no questions, and nothing is fetched: a missing object would start a transport. */
const READ_ONLY_ENVIRONMENT = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_REPLACE_OBJECTS: '1',
} as const;

const asEnvironment = (settings: readonly GitSetting[]): Environment =>
  Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(settings.length)],
    ...settings.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);

const KEPT = /^GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|CEILING_DIRECTORIES)$/;

/** Variables such as GIT_DIR would speak of another repository, or name programs. */
const withoutGit = (environment: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment).filter(([name]) => !name.startsWith('GIT_') || KEPT.test(name)),
  );

/**
 * Without what is in the repository: `npx` puts its `node_modules/.bin` first, and those of all folders
 * above, which may hold this repository as a part of theirs.
 */
const outsidePath = (path: string, top: string, home: string | undefined): string =>
  path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !PACKAGE_PROGRAMS.test(normalize(folder)))
    .filter(
      (folder) =>
        (home !== undefined && isPathInside({ path: realOf(home), folder: top })) ||
        !isPathInside({ path: realOf(folder), folder: top }),
    )
    .join(delimiter);

const PACKAGE_PROGRAMS = /[\\/]node_modules[\\/]\.bin[\\/]?$/;

const realOf = (path: string) => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

interface Run {
  readonly cwd: string;
  readonly env: Environment;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly input: Uint8Array | undefined;
  readonly keepsStderr: boolean;
}

const MAX_STDERR_LENGTH = 4_000;

const run = (
  args: readonly string[],
  { cwd, env, signal, maxBytes: mostBytes, input, keepsStderr: listens }: Run,
): Promise<GitResult | undefined> =>
  new Promise((settle) => {
    if (signal.aborted) return settle(undefined);
    let child: ReturnType<typeof start>;
    try {
      const stdio = [input === undefined ? 'ignore' : 'pipe', 'pipe', listens ? 'pipe' : 'ignore'];
      child = start(args, cwd, env, stdio as Stdio);
    } catch {
      return settle(undefined);
    }
    const chunks: Buffer[] = [];
    let size = 0;
    let trouble = '';
    const said = (code: number | null, most = size): GitResult => {
      const bytes = Buffer.concat(chunks);
      const text = bytes.toString('utf8').slice(0, most);
      return { code, text, bytes: bytes.subarray(0, most), stderr: trouble };
    };
    const end = (answer: GitResult | undefined) => {
      signal.removeEventListener('abort', giveUp);
      child.removeAllListeners('close');
      child.stdout.removeAllListeners('data').destroy();
      settle(answer);
    };
    const kill = () => {
      if (child.pid !== undefined) signalProcessGroup(child.pid, 'SIGKILL');
    };
    const giveUp = () => {
      kill();
      end(undefined);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    child.on('error', () => end(undefined));
    child.on('close', (code) => end(said(code)));
    // It may end without having listened.
    child.stdin?.on('error', () => undefined).end(input);
    child.stderr?.on('data', (chunk: Buffer) => {
      trouble = `${trouble}${chunk.toString('utf8')}`.slice(0, MAX_STDERR_LENGTH);
    });
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= mostBytes) return;
      kill();
      end(said(null, mostBytes));
    });
  });

/** In a group of its own, so that whatever it may have started ends with it. */
const start = (
  args: readonly string[],
  cwd: string,
  env: Environment,
  stdio: Stdio,
): ChildProcessByStdio<Writable | null, Readable, Readable | null> =>
  spawn('git', ['--no-pager', ...args], {
    cwd,
    env,
    detached: true,
    stdio,
  }) as ChildProcessByStdio<Writable | null, Readable, Readable | null>;

type Stdio = ['ignore' | 'pipe', 'pipe', 'ignore' | 'pipe'];
