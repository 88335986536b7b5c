import type { Shell, ShellCommand, ShellEnd } from '../../src/protocol/tools/shell.js';

/** Command that runs until the test ends it, or until it is aborted. */
export interface HeldRun {
  readonly command: ShellCommand;
  print(text: string | Uint8Array, stream?: 'stdout' | 'stderr'): void;
  end(end?: Partial<ShellEnd>): void;
  fail(error: Error): void;
}

export interface HeldShell extends Shell {
  /** Oldest first. */
  readonly runs: readonly HeldRun[];
}

/** Deterministic shell: no time passes, and every command waits for the test. */
export const heldShell = (): HeldShell => {
  const runs: HeldRun[] = [];
  return {
    runs,
    run: (command) =>
      new Promise((resolve, reject) => {
        const base = { reason: 'exited', exitCode: 0, signal: null, durationMs: 1 } as const;
        const end = (how: Partial<ShellEnd> = {}) => resolve({ ...base, cwd: command.cwd, ...how });
        const stop = () => end({ reason: 'aborted', exitCode: null, signal: 'SIGKILL' });
        runs.push({
          command,
          end,
          fail: reject,
          print(text, stream = 'stdout') {
            command.onOutput(stream, typeof text === 'string' ? Buffer.from(text) : text);
          },
        });
        command.signal.addEventListener('abort', stop, { once: true });
        if (command.signal.aborted) stop();
        else command.onStarted?.();
      }),
  };
};
