/**
 * Git command for untrusted repositories. Configuration, attributes and hooks can name programs, so
 * git runs with settings that start none of them and that do not write to the repository.
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
  /** Exit code. Null if git was killed because of too much output. */
  readonly code: number | null;
  readonly text: string;
  /** Same output as bytes. */
  readonly bytes: Buffer;
  /** Standard error. Empty unless `keepsStderr`. */
  readonly stderr: string;
}

/** Returns undefined if git cannot be started or times out. Never rejects. */
export type GitCommand = (
  args: readonly string[],
  maxBytes: number,
  input?: Uint8Array,
  extraEnv?: Environment,
) => Promise<GitResult | undefined>;

/** Additional options for callers that write to the repository. */
export interface GitCommandOptions {
  readonly env?: Environment;
  readonly settings?: readonly GitSetting[];
  /** True to collect standard error. Default: false. */
  readonly keepsStderr?: boolean;
}

type Environment = Readonly<Record<string, string>>;

const CONFIG_BYTES = 1024 * 1024;
/** Maximum number of filters and merge drivers. */
const MAX_FILTERS = 500;

/** Returns undefined if git cannot be kept from running programs of the repository. `signal` stops all commands. */
export const hardenedGit = async (
  cwd: string,
  { top, directory }: GitLocation,
  environment: Environment,
  signal: AbortSignal,
  { env = {}, settings: extraSettings = [], keepsStderr = false }: GitCommandOptions = {},
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
    (args, maxBytes, input, extraEnv = {}) =>
      run(args, {
        cwd,
        signal,
        maxBytes,
        input,
        keepsStderr,
        env: { ...base, ...asEnvironment(settings), ...extraEnv },
      });
  // Git before 2.31 ignores settings in the environment, so the canary is missing from its list.
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
    ...extraSettings,
    ...[...filters].flatMap(withoutFilter),
    ...drivers.map(withoutDriver),
  ]);
};

export type GitSetting = readonly [key: string, value: string];

/** Settings that override the repository's. */
const SAFE_SETTINGS: readonly GitSetting[] = [
  ['core.fsmonitor', ''],
  ['core.hooksPath', '/dev/null'],
  ['core.quotePath', 'false'],
  ['log.showSignature', 'false'],
  ['status.submoduleSummary', 'false'],
  ['protocol.allow', 'never'],
];

/** A filter without a program leaves files unchanged. */
const withoutFilter = (name: string): readonly GitSetting[] => [
  [`filter.${name}.clean`, ''],
  [`filter.${name}.smudge`, ''],
  [`filter.${name}.process`, ''],
  [`filter.${name}.required`, 'false'],
];

/** A failing merge driver leaves a conflict. */
const withoutDriver = (key: string): GitSetting => [key, 'false'];

/** No locks, no prompts, and no lazy fetch, because a missing object would start a transport. */
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

const KEPT_VARIABLES = /^GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|CEILING_DIRECTORIES)$/;

/** Drops variables such as GIT_DIR, which name another repository or programs. */
const withoutGit = (environment: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => !name.startsWith('GIT_') || KEPT_VARIABLES.test(name),
    ),
  );

/**
 * Returns PATH without folders inside the repository and without `node_modules/.bin` folders, which `npx` puts
 * first.
 */
const outsidePath = (path: string, top: string, home: string | undefined): string =>
  path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !PACKAGE_PROGRAMS.test(normalize(folder)))
    .filter(
      (folder) =>
        (home !== undefined && isPathInside({ path: realPathOf(home), folder: top })) ||
        !isPathInside({ path: realPathOf(folder), folder: top }),
    )
    .join(delimiter);

const PACKAGE_PROGRAMS = /[\\/]node_modules[\\/]\.bin[\\/]?$/;

const realPathOf = (path: string) => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

interface RunOptions {
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
  { cwd, env, signal, maxBytes, input, keepsStderr }: RunOptions,
): Promise<GitResult | undefined> =>
  new Promise((settle) => {
    if (signal.aborted) return settle(undefined);
    let child: ReturnType<typeof start>;
    try {
      const stdio = [
        input === undefined ? 'ignore' : 'pipe',
        'pipe',
        keepsStderr ? 'pipe' : 'ignore',
      ];
      child = start(args, cwd, env, stdio as Stdio);
    } catch {
      return settle(undefined);
    }
    const chunks: Buffer[] = [];
    let size = 0;
    let stderr = '';
    const resultOf = (code: number | null, length = size): GitResult => {
      const bytes = Buffer.concat(chunks);
      const text = bytes.toString('utf8').slice(0, length);
      return { code, text, bytes: bytes.subarray(0, length), stderr };
    };
    const end = (answer: GitResult | undefined) => {
      signal.removeEventListener('abort', onAbort);
      child.removeAllListeners('close');
      child.stdout.removeAllListeners('data').destroy();
      settle(answer);
    };
    const kill = () => {
      if (child.pid !== undefined) signalProcessGroup(child.pid, 'SIGKILL');
    };
    const onAbort = () => {
      kill();
      end(undefined);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    child.on('error', () => end(undefined));
    child.on('close', (code) => end(resultOf(code)));
    // Git may exit before it reads its input.
    child.stdin?.on('error', () => undefined).end(input);
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = `${stderr}${chunk.toString('utf8')}`.slice(0, MAX_STDERR_LENGTH);
    });
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBytes) return;
      kill();
      end(resultOf(null, maxBytes));
    });
  });

/** Starts git in its own process group, so that its children can be killed too. */
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
