/** What configuration may know of the outside, always passed in and never looked up midway. */

export interface ConfigEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home, absolute. */
  readonly home: string;
  /** Where the user is, absolute. */
  readonly cwd: string;
  /** Who runs this; undefined where nobody has a number. */
  readonly uid?: number | undefined;
}
