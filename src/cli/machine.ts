/** The world around the command, passed in so that every command can be run in a test. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly stdin: NodeJS.ReadStream & { readonly fd: number };
  /** The only way to stdout. Text that cannot be written any more is dropped. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Program and arguments that start the watchdog. */
  readonly watchdog: readonly string[];
  /** Calls back at each Ctrl-C or request to end; the returned function stops it. */
  readonly onInterrupt: (listener: () => void) => () => void;
}
