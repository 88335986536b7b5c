/** A run as the command line asks for it: a session to type at, or one that is printed. */
import { UsageError } from '../protocol/errors.js';
import type { Provider } from '../sdk/assembly/options/provider.js';
import type { TerminalHost } from '../terminal/terminal-host.js';
import type { RunFlags } from './run/run-flags.js';

/** `end` is told the exit code. */
export const runAgent = async (
  prompt: string | undefined,
  flags: RunFlags,
  machine: TerminalHost,
  end: (code: number) => void,
): Promise<void> => {
  const isInteractive = talksToAPerson(flags, machine);
  const { host } = isInteractive
    ? { host: (await import('./repl/repl.js')).repl }
    : { host: (await import('./print/print-mode.js')).printMode };
  const run = (provider?: Provider) => host(prompt, flags, machine, provider);
  const { withSimulator } =
    flags.simulate === undefined ? {} : await import('./run/with-simulator.js');
  const code = withSimulator === undefined ? await run() : await withSimulator(flags, run);
  end(code);
  // Whatever an agent left running must not keep a person from leaving.
  if (isInteractive) machine.quit(code);
};

/** Throws a UsageError where it cannot be told, or makes no sense. */
const talksToAPerson = (flags: RunFlags, { stdin }: TerminalHost): boolean => {
  const { print = false, plain = false, inputFormat, outputFormat } = flags;
  if (plain && print) throw new UsageError('--plain is an interactive session: leave out -p.');
  if (print || inputFormat !== 'text') return false;
  const isAsked = plain || stdin.isTTY === true;
  if (isAsked && outputFormat !== 'text') {
    throw new UsageError(`--output-format ${outputFormat} needs -p, as in skein -p "…".`);
  }
  return isAsked;
};
