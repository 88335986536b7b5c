/** What an agent is told of the repository that it works in, as it was at one moment. */
export interface RepositoryFacts {
  /** `HEAD` when no branch is out. */
  readonly branch: string;
  /** Where work is merged to, as far as that can be told. */
  readonly defaultBranch: string | undefined;
  /** Changed files in the short format; empty when there are none, undefined without a work tree. */
  readonly status: string | undefined;
  /** There was more than 2,000 characters of it. */
  readonly isStatusCut: boolean;
  /** The last five, newest first: short hash and subject. */
  readonly commits: readonly string[];
  readonly user: string | undefined;
}
