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
  /** Path of the program of threads that scan large workspaces. Undefined: the scans run in this thread. */
  readonly shardThread?: string | undefined;
  /** Shows one sentence to the person. */
  readonly notify: (sentence: string) => void;
  /** Writes to the debug log. Undefined if there is none. */
  readonly debug?: DebugLog | undefined;
}

/** Records an event with its facts. Never throws. */
export type DebugLog = (event: string, fields?: object) => void;
