/** What a host may ask of a run. The command line fills it from flags, a program by hand. */
export interface RunOptions {
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: number;
  /** All that the server counts, of the lead and its agents. */
  readonly maxBudgetTokens?: number;
  readonly permissionMode?: string;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** Stands instead of the whole system prompt; nothing is appended to it. */
  readonly overrideSystemPrompt?: string;
  /** The name of an agent that somebody has described. */
  readonly agent?: string;
  /** JSON: more agents by their names, stronger than those in files. */
  readonly agents?: string;
  /** Leaves out what was not asked for: memory files, but for those of `addDir`. */
  readonly bare?: boolean;
  /** A file, or JSON. */
  readonly settings?: string;
  readonly addDir?: readonly string[];
  readonly cwd?: string;
  /** The id of a former session, or the beginning of one. */
  readonly resume?: string;
  /** The newest session of the directory. */
  readonly continue?: boolean;
  readonly forkSession?: boolean;
  readonly sessionId?: string;
  readonly jsonSchema?: string;
  /** `embedded`, or the URL of a Redis. */
  readonly store?: string;
  /** False keeps nothing on disk. */
  readonly sessionPersistence?: boolean;
  readonly trust?: boolean;
  /** Questions wait for an answer from another terminal. */
  readonly ask?: boolean;
}
