/** Snapshot of a git repository for the system prompt. */
export interface RepositoryFacts {
  /** Current branch, or `HEAD` if detached. */
  readonly branch: string;
  /** Main branch, or undefined if unknown. */
  readonly defaultBranch: string | undefined;
  /** Output of `git status` in the short format. Undefined without a work tree. */
  readonly status: string | undefined;
  /** True if the status was longer than 2,000 characters. */
  readonly isStatusCut: boolean;
  /** Short hash and subject of the last five commits, newest first. */
  readonly commits: readonly string[];
  readonly user: string | undefined;
}
