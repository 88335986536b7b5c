/** Another pane beside the one that we run in, for those who work in tmux. */
import { execFile } from 'node:child_process';

export interface TmuxPaneOptions {
  /** The pane to split: `%3`. */
  readonly beside: string;
  /** A program and its arguments; no shell reads them. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** What it must know besides what the tmux server gives it. */
  readonly variables: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Resolves when it is open. Rejects with a sentence about why it is not. */
export const openTmuxPane = (pane: TmuxPaneOptions): Promise<void> => {
  const { beside, command, cwd, variables, environment } = pane;
  const given = Object.entries(variables).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const args = ['split-window', '-d', '-t', beside, '-c', cwd, ...given, ...command];
  return new Promise((resolve, reject) => {
    execFile('tmux', args, { env: environment, timeout: TIMEOUT_MS }, (error, _, stderr) => {
      if (error === null) resolve();
      else reject(new Error(stderr.trim() || error.message));
    });
  });
};

const TIMEOUT_MS = 5_000;
