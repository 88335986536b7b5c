/** Starts a session from the command line: an interactive session, or print mode. */
import { UsageError } from '../protocol/skein-error.js';
import type { Provider } from '../sdk/assembly/options/provider.js';
import type { TerminalHost } from '../terminal/terminal-host.js';
import type { RunFlags } from './session/run-flags.js';

/** Runs the session to its end. `end` receives the exit code. Rejects with UsageError. */
export const startSession = async (
  prompt: string | undefined,
  flags: RunFlags,
  host: TerminalHost,
  end: (code: number) => void,
): Promise<void> => {
  const isInteractive = isInteractiveRun(flags, host);
  const { start } = isInteractive
    ? { start: (await import('./repl/repl.js')).repl }
    : { start: (await import('./print/print-mode.js')).printMode };
  const run = (provider?: Provider) => start(prompt, flags, host, provider);
  const { withSimulator } =
    flags.simulate === undefined ? {} : await import('./session/with-simulator.js');
  const code = withSimulator === undefined ? await run() : await withSimulator(flags, run);
  end(code);
  // Quit at once: processes that an agent left running must not delay the exit.
  if (isInteractive) host.quit(code);
};

/** True for an interactive session. Throws UsageError if flags contradict each other. */
const isInteractiveRun = (flags: RunFlags, host: TerminalHost): boolean => {
  const { print = false, plain = false, inputFormat, outputFormat } = flags;
  if (plain && print) throw new UsageError('--plain starts an interactive session: leave out -p.');
  if (print || inputFormat !== 'text') return false;
  const isInteractive = plain || host.stdin.isTTY === true;
  if (isInteractive && outputFormat !== 'text') {
    throw new UsageError(`--output-format ${outputFormat} needs -p, as in skein -p "…".`);
  }
  return isInteractive;
};
