/** Environment of the host process, passed in so that every host can be tested. */
export interface HostEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** User id of the process. Undefined on systems without user ids. */
  readonly uid?: number | undefined;
  /** Program and arguments that start the watchdog process. */
  readonly watchdog: readonly string[];
  /** Shows one sentence to the person. */
  readonly notify: (sentence: string) => void;
}
