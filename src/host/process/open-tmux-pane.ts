/** Opens a tmux pane beside the current pane. */
import { execFile } from 'node:child_process';

export interface TmuxPaneOptions {
  /** Pane to split, such as `%3`. */
  readonly beside: string;
  /** Program and arguments, not interpreted by a shell. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** Environment variables in addition to those of the tmux server. */
  readonly variables: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Resolves when the pane is open. Rejects with an Error whose message is the reason of tmux. */
export const openTmuxPane = (pane: TmuxPaneOptions): Promise<void> => {
  const { beside, command, cwd, variables, environment } = pane;
  const variableFlags = Object.entries(variables).flatMap(([name, value]) => [
    '-e',
    `${name}=${value}`,
  ]);
  const args = ['split-window', '-d', '-t', beside, '-c', cwd, ...variableFlags, ...command];
  return new Promise((resolve, reject) => {
    execFile('tmux', args, { env: environment, timeout: TIMEOUT_MS }, (error, _, stderr) => {
      if (error === null) resolve();
      else reject(new Error(stderr.trim() || error.message));
    });
  });
};

const TIMEOUT_MS = 5_000;
