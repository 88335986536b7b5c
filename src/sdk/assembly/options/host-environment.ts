/** The world around a run, passed in so that every host can be tested. */
export interface HostEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** Who runs this; undefined where nobody has a number. */
  readonly uid?: number | undefined;
  /** Program and arguments that start the watchdog. */
  readonly watchdog: readonly string[];
  /** One sentence for people, outside of any run. */
  readonly notify: (sentence: string) => void;
}
