/** Git summary of a directory for the prompt: branch, status, recent commits. */
import type { RepositoryFacts } from '../../protocol/tools/repository-facts.js';
import { branchName, DETACHED_HEAD, findGitDirectory } from './find-git-directory.js';
import { type GitResult, hardenedGit } from './git-command.js';

const MAX_STATUS_LENGTH = 2_000;

const MAX_OUTPUT_BYTES = 64 * 1024;
/** UTF-8 needs at most four bytes per character. */
const STATUS_BYTES = 4 * (MAX_STATUS_LENGTH + 1);
const MAX_LINE_LENGTH = 200;
export const GIT_SUMMARY_TIMEOUT_MS = 5_000;

/**
 * Returns undefined outside of a repository, without a usable git, or on time-out. Never rejects. `environment` is
 * the environment of git.
 */
export const gitSummary = async (
  cwd: string,
  environment: Readonly<Record<string, string>>,
  signal = AbortSignal.timeout(GIT_SUMMARY_TIMEOUT_MS),
): Promise<RepositoryFacts | undefined> => {
  const location = findGitDirectory(cwd);
  if (location === undefined) return undefined;
  const git = await hardenedGit(cwd, location, environment, signal);
  if (git === undefined) return undefined;
  const [branch, main, status, log, user] = await Promise.all([
    git(['symbolic-ref', '-q', 'HEAD'], MAX_OUTPUT_BYTES),
    git(MAIN_BRANCHES, MAX_OUTPUT_BYTES),
    // A bare repository has no working tree, and its own settings could name any folder.
    location.top === undefined ? NO_STATUS : git(STATUS, STATUS_BYTES),
    git(LAST_COMMITS, MAX_OUTPUT_BYTES),
    git(['config', '--get', 'user.name'], MAX_OUTPUT_BYTES),
  ]);
  if (!branch || !main || !status || !log || !user) return undefined;
  // Code 1 is a detached HEAD. With higher codes git refuses the repository, for example because of its owner.
  if (branch.code !== 0 && branch.code !== 1) return undefined;
  return {
    branch: branchName(linesOf(branch)[0]?.replace(/^refs\/heads\//, '') ?? '') || DETACHED_HEAD,
    defaultBranch: mainBranch(linesOf(main)),
    ...cutStatus(status),
    commits: linesOf(log).flatMap((commit) => singleLine(commit) ?? []),
    user: singleLine(linesOf(user)[0]),
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

/** Ignores submodules, because git would read them with their own configuration. */
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
  code === 0 || code === null ? text.split('\n').filter((entry) => entry !== '') : [];

/** Returns the text as a single short line without control characters, because it is not trusted. */
const singleLine = (text: string | undefined): string | undefined => {
  const cleaned = text?.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  if (cleaned === undefined || cleaned === '') return undefined;
  return cleaned.length > MAX_LINE_LENGTH ? `${cutText(cleaned, MAX_LINE_LENGTH)}…` : cleaned;
};

/** Returns the HEAD branch of a remote, origin first. Otherwise main or master. */
const mainBranch = (refs: readonly string[]): string | undefined => {
  const pairs = refs.map((ref) => ref.split(' ', 2) as [string, string]);
  const remote = ['refs/remotes/origin/HEAD', ...pairs.map(([name]) => name)];
  for (const name of remote.filter((ref) => ref.startsWith('refs/remotes/'))) {
    const target = pairs.find(([ref]) => ref === name)?.[1] ?? '';
    const folder = name.slice(0, -'HEAD'.length);
    if (target.startsWith(folder)) return singleLine(target.slice(folder.length));
  }
  return pairs.find(([name]) => name.startsWith('refs/heads/'))?.[0].slice('refs/heads/'.length);
};

const cutStatus = ({ code, text }: GitResult) => {
  if (code !== 0 && code !== null) return { status: undefined, isStatusCut: false };
  const status = text.replace(/\n$/, '');
  const isStatusCut = status.length > MAX_STATUS_LENGTH;
  return { status: cutText(status, MAX_STATUS_LENGTH), isStatusCut };
};

/** Cuts the text without splitting a surrogate pair. */
const cutText = (text: string, maxLength: number): string =>
  text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');
