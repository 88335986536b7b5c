/** Facts about the process that configuration depends on. They are passed in, never read globally. */

export interface ConfigEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Home folder of the user, absolute. */
  readonly home: string;
  /** Working directory, absolute. */
  readonly cwd: string;
  /** Numeric id of the user. Undefined on systems without user ids. */
  readonly uid?: number | undefined;
}
