/** Options of a run, from the flags of the command line or from a program. */
export interface RunOptions {
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: number;
  /** Maximum tokens (input, cache and output) of the lead and its agents together. */
  readonly maxBudgetTokens?: number;
  readonly permissionMode?: string;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** Replaces the whole system prompt except the repository summary. */
  readonly overrideSystemPrompt?: string;
  /** Name of the agent definition that the lead works as. */
  readonly agent?: string;
  /** More agent definitions as JSON, by name. They override definitions in files. */
  readonly agents?: string;
  /** Leaves out memory files, except the files of `addDir`. */
  readonly bare?: boolean;
  /** Path of a settings file, or settings as JSON. */
  readonly settings?: string;
  readonly addDir?: readonly string[];
  readonly cwd?: string;
  /** Id of the session to resume, or the start of the id. */
  readonly resume?: string;
  /** Resumes the newest session of the directory. */
  readonly continue?: boolean;
  readonly forkSession?: boolean;
  readonly sessionId?: string;
  readonly jsonSchema?: string;
  /** `embedded`, or the URL of a Redis server. */
  readonly store?: string;
  /** False keeps the session in memory only. Default: true. */
  readonly sessionPersistence?: boolean;
  readonly trust?: boolean;
  /** Lets questions wait for an answer from another terminal. */
  readonly ask?: boolean;
}
