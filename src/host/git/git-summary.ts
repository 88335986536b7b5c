/** What git says of a directory at one moment, so that an agent need not ask. */
import type { RepositoryFacts } from '../../protocol/tools/repository-facts.js';
import { branchName, DETACHED_HEAD, findGitDirectory } from './find-git-directory.js';
import { type GitResult, hardenedGit } from './git-command.js';

const MAX_STATUS_LENGTH = 2_000;

const MAX_OUTPUT_BYTES = 64 * 1024;
/** No character has more than four bytes. */
const STATUS_BYTES = 4 * (MAX_STATUS_LENGTH + 1);
const MAX_LINE_LENGTH = 200;
export const GIT_SUMMARY_TIMEOUT_MS = 5_000;

/**
 * Undefined outside of a repository, without a git that can be used, or when it takes too long. Never
 * rejects. `environment` is that of a child process.
 */
export const gitSummary = async (
  cwd: string,
  environment: Readonly<Record<string, string>>,
  signal = AbortSignal.timeout(GIT_SUMMARY_TIMEOUT_MS),
): Promise<RepositoryFacts | undefined> => {
  const place = findGitDirectory(cwd);
  if (place === undefined) return undefined;
  const git = await hardenedGit(cwd, place, environment, signal);
  if (git === undefined) return undefined;
  const [branch, main, status, log, user] = await Promise.all([
    git(['symbolic-ref', '-q', 'HEAD'], MAX_OUTPUT_BYTES),
    git(MAIN_BRANCHES, MAX_OUTPUT_BYTES),
    // In a bare repository only its own settings could say where files are: anywhere.
    place.top === undefined ? NO_STATUS : git(STATUS, STATUS_BYTES),
    git(LAST_COMMITS, MAX_OUTPUT_BYTES),
    git(['config', '--get', 'user.name'], MAX_OUTPUT_BYTES),
  ]);
  if (!branch || !main || !status || !log || !user) return undefined;
  // 1 is a detached HEAD; with more git refuses the repository, be it for its owner.
  if (branch.code !== 0 && branch.code !== 1) return undefined;
  return {
    branch: branchName(linesOf(branch)[0]?.replace(/^refs\/heads\//, '') ?? '') || DETACHED_HEAD,
    defaultBranch: mainBranch(linesOf(main)),
    ...cutStatus(status),
    commits: linesOf(log).flatMap((it) => line(it) ?? []),
    user: line(linesOf(user)[0]),
  };
};

const MAIN_BRANCHES = [
  'for-each-ref',
  '--count=100',
  '--format=%(refname) %(symref)',
  'refs/remotes/*/HEAD',
  'refs/heads/main',
  'refs/heads/master',
];

/** Submodules would be looked at by another git, with their own configuration. */
const STATUS = ['status', '--porcelain=v1', '--untracked-files=normal', '--ignore-submodules=all'];

const NO_STATUS: GitResult = { code: 1, text: '', bytes: Buffer.alloc(0), stderr: '' };

const LAST_COMMITS = [
  'log',
  '-5',
  '--format=%h %s',
  '--encoding=UTF-8',
  '--no-show-signature',
  '--no-patch',
  '--no-ext-diff',
  '--no-textconv',
  '--no-notes',
  '--no-decorate',
  '--no-color',
  'HEAD',
  '--',
];

const linesOf = ({ code, text }: GitResult): readonly string[] =>
  code === 0 || code === null ? text.split('\n').filter((it) => it !== '') : [];

/** One line of words: what somebody else wrote cannot begin another, nor move a cursor. */
const line = (text: string | undefined): string | undefined => {
  const plain = text?.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  if (plain === undefined || plain === '') return undefined;
  return plain.length > MAX_LINE_LENGTH ? `${whole(plain, MAX_LINE_LENGTH)}…` : plain;
};

/** What the remote calls its HEAD, origin before others; else a branch with a usual name. */
const mainBranch = (refs: readonly string[]): string | undefined => {
  const pairs = refs.map((ref) => ref.split(' ', 2) as [string, string]);
  const remote = ['refs/remotes/origin/HEAD', ...pairs.map(([name]) => name)];
  for (const name of remote.filter((it) => it.startsWith('refs/remotes/'))) {
    const target = pairs.find(([it]) => it === name)?.[1] ?? '';
    const folder = name.slice(0, -'HEAD'.length);
    if (target.startsWith(folder)) return line(target.slice(folder.length));
  }
  return pairs.find(([name]) => name.startsWith('refs/heads/'))?.[0].slice('refs/heads/'.length);
};

const cutStatus = ({ code, text }: GitResult) => {
  if (code !== 0 && code !== null) return { status: undefined, isStatusCut: false };
  const status = text.replace(/\n$/, '');
  const isStatusCut = status.length > MAX_STATUS_LENGTH;
  return { status: whole(status, MAX_STATUS_LENGTH), isStatusCut };
};

/** Never half of a character. */
const whole = (text: string, most: number): string =>
  text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
