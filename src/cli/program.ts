/** The commands and their help. Each command's work is loaded when it is called. */
import { Command, CommanderError } from 'commander';
import { nearest } from '../config/json/did-you-mean.js';
import { SkeinError, UsageError } from '../protocol/errors.js';
import type { TerminalHost } from '../terminal/terminal-host.js';
import { addCommands } from './command-table.js';
import { HELP_TEXT } from './help-text.js';
import { EXIT } from './run/exit-code.js';
import { addRunFlags, type RunFlags } from './run/run-flags.js';
import { runAgent } from './run-agent.js';

/** Columns of the help. */
const WIDEST = 100;

export const runCommandLine = async (
  args: readonly string[],
  machine: TerminalHost,
): Promise<number> => {
  let exitCode: number = EXIT.done;
  const program = buildProgram(machine, (code) => {
    exitCode = code;
  });
  try {
    if (args[0] === '__complete') {
      const { complete } = await import('./commands/completion/completion.js');
      for (const line of await complete(program, args.slice(1), machine)) machine.out(`${line}\n`);
      return EXIT.done;
    }
    if (args[0] === '__hosted') {
      const { hostedMode } = await import('./print/hosted-mode.js');
      return await hostedMode(machine);
    }
    refuseUnknownWord(args, program);
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return report(error, args.includes('--verbose'), machine);
  }
};

/** The tree of commands; `end` is told the exit code. */
export const buildProgram = (machine: TerminalHost, end: (code: number) => void): Command => {
  const program = new Command('skein')
    .description('Runs swarms of coding agents whose every byte and effect is accounted for.')
    .argument('[prompt]', 'what to do')
    .addHelpText('after', HELP_TEXT)
    .exitOverride()
    .configureOutput({
      writeOut: machine.out,
      writeErr: machine.err,
      outputError: (text, write) => write(inOurWords(text)),
      getOutHelpWidth: () => Math.min(process.stdout.columns || WIDEST, WIDEST),
    })
    .showSuggestionAfterError();
  addRunFlags(program).action(async (prompt: string | undefined, flags: RunFlags) => {
    if (flags.print !== true) refuseTypo(prompt, program);
    await runAgent(prompt, flags, machine, end);
  });
  addCommands(program, machine, end);
  return program;
};

/** `skein help doctr`, `skein sessions purne`: neither the whole help nor a count of words helps. */
const refuseUnknownWord = ([first, word]: readonly string[], program: Command): void => {
  const group = first === 'help' ? program : program.commands.find((it) => it.name() === first);
  const names = group?.commands.map((command) => command.name()) ?? [];
  if (word === undefined || word.startsWith('-') || names.length === 0) return;
  if ([...names, 'help'].includes(word)) return;
  const meant = nearest(word, names);
  const hint = meant === undefined ? '; skein --help lists them.' : `. Did you mean ${meant}?`;
  const path = first === 'help' ? word : `${first} ${word}`;
  throw new UsageError(`There is no command "${path}"${hint}`);
};

/** One word that is nearly a command is hardly a prompt, and a prompt costs money. */
const refuseTypo = (prompt: string | undefined, program: Command): void => {
  const names = program.commands.map((command) => command.name());
  const meant = prompt === undefined ? undefined : nearest(prompt, names);
  if (meant === undefined) return;
  throw new UsageError(
    `There is no command "${prompt}". Did you mean skein ${meant}? As a prompt, give it with -p.`,
  );
};

/** Commander's errors begin otherwise, and one of them leaves a person without an id. */
const inOurWords = (text: string): string =>
  text
    .replace(/^error: /, 'skein: ')
    .replace(
      /(--resume <session>' )argument missing/,
      '$1needs the id of a session; skein sessions lists them',
    );

/** One sentence that says what to do; a stack only when it was asked for. */
export const report = (error: unknown, verbose: boolean, { err }: TerminalHost): number => {
  if (error instanceof CommanderError) {
    // Commander has said it already: help and version are no errors.
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  const message = error instanceof Error ? error.message : String(error);
  err(`skein: ${message}\n`);
  if (verbose && error instanceof Error) err(`${error.stack}\n`);
  if (error instanceof UsageError) return EXIT.usage;
  if (!(error instanceof SkeinError) && !verbose) err('This is a defect; --verbose shows where.\n');
  return EXIT.failed;
};
