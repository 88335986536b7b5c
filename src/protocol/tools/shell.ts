/** Port that runs shell commands. */

export interface Shell {
  /** Resolves when the command has ended, for any reason. Rejects only if it could not be started. */
  run(command: ShellCommand): Promise<ShellEnd>;
}

export interface ShellCommand {
  readonly command: string;
  readonly cwd: string;
  /** Time-out. Default: none. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
  /** Standard input. Default: empty. */
  readonly input?: string;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** True to also kill processes that left the group and closed the pipes. Scans all processes. */
  readonly thorough?: boolean;
  /** Called when the command runs and the watchdog will kill it if this process dies. */
  onStarted?(): void;
  /** Receives chunks of both streams in the order of their arrival. */
  onOutput(stream: 'stdout' | 'stderr', chunk: Uint8Array): void;
}

export interface ShellEnd {
  readonly reason: 'exited' | 'timeout' | 'aborted';
  /** Null if a signal ended the command. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Working directory at the end, or undefined if the shell could not report it. */
  readonly cwd: string | undefined;
  readonly durationMs: number;
}
