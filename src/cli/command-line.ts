/** Runs the command line: builds the command tree, runs the command, reports errors. */
import { Command, CommanderError } from 'commander';
import { didYouMean } from '../lib/text/did-you-mean.js';
import { SkeinError, UsageError } from '../protocol/skein-error.js';
import { VERSION } from '../sdk/assembly/version.js';
import type { TerminalHost } from '../terminal/terminal-host.js';
import { addCommands } from './add-commands.js';
import { HELP_TEXT } from './help-text.js';
import { ExitCode } from './session/exit-code.js';
import { addRunFlags, type RunFlags } from './session/run-flags.js';
import { startSession } from './start-session.js';

const MAX_HELP_COLUMNS = 100;

/** Resolves with the exit code. Never rejects: errors are printed on stderr. */
export const commandLine = async (
  args: readonly string[],
  terminalHost: TerminalHost,
): Promise<number> => {
  let host = terminalHost;
  try {
    host = await withDebugLog(args, terminalHost);
  } catch (error) {
    return reportError(error, args.includes('--verbose'), terminalHost);
  }
  const code = await runCommand(args, host);
  host.debug?.('exit', { code });
  return code;
};

/** Returns the host with a debug log, if a flag or the environment asks for it. Rejects with UsageError. */
const withDebugLog = async (args: readonly string[], host: TerminalHost): Promise<TerminalHost> => {
  const flags = args.slice(0, args.includes('--') ? args.indexOf('--') : args.length);
  const at = flags.findIndex((flag) => /^--debug-file(=|$)/.test(flag));
  const file = at === -1 ? undefined : (flags[at]?.split(/=(.*)/s)[1] ?? flags[at + 1]);
  const isOn = flags.includes('--debug') || !['', '0'].includes(host.env.SKEIN_DEBUG ?? '');
  if (file === undefined && !isOn) return host;
  const { openDebugLog } = await import('./session/open-debug-log.js');
  const debug = openDebugLog(file, host);
  debug('command', { args, cwd: host.cwd, version: VERSION, node: process.version });
  const notify = (sentence: string) => {
    debug('notice', { text: sentence });
    host.notify(sentence);
  };
  return { ...host, debug, notify };
};

const runCommand = async (args: readonly string[], host: TerminalHost): Promise<number> => {
  let exitCode: number = ExitCode.done;
  const program = buildProgram(host, (code) => {
    exitCode = code;
  });
  try {
    if (args[0] === '__complete') {
      const { complete } = await import('./commands/completion/complete.js');
      for (const line of await complete(program, args.slice(1), host)) host.out(`${line}\n`);
      return ExitCode.done;
    }
    if (args[0] === '__hosted') {
      const { hostedMode } = await import('./print/hosted-mode.js');
      return await hostedMode(host);
    }
    refuseUnknownWord(args, program);
    if (args.length === 1 && host.stdin.isTTY !== true) refuseSingleWord(args, program);
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    host.debug?.('error', { error });
    return reportError(error, args.includes('--verbose'), host);
  }
};

/** Builds the command tree. `end` receives the exit code. */
export const buildProgram = (host: TerminalHost, end: (code: number) => void): Command => {
  const program = new Command('skein')
    .description('Runs many coding agents on one repository, with one budget and one set of rules.')
    .argument('[prompt]', 'what to do')
    .addHelpText('after', HELP_TEXT)
    .exitOverride()
    .configureOutput({
      writeOut: host.out,
      writeErr: host.err,
      outputError: (text, write) => write(rewordCommanderError(text)),
      getOutHelpWidth: () => Math.min(process.stdout.columns || MAX_HELP_COLUMNS, MAX_HELP_COLUMNS),
    })
    .showSuggestionAfterError();
  addRunFlags(program).action(async (prompt: string | undefined, flags: RunFlags) => {
    if (flags.print !== true) refuseTypo(prompt, program);
    await startSession(prompt, flags, host, end);
  });
  addCommands(program, host, end);
  return program;
};

/** Throws UsageError for an unknown sub-command, such as `skein help doctr` or `skein sessions purne`. */
const refuseUnknownWord = ([first, word]: readonly string[], program: Command): void => {
  const group =
    first === 'help' ? program : program.commands.find((command) => command.name() === first);
  const names = group?.commands.map((command) => command.name()) ?? [];
  if (word === undefined || word.startsWith('-') || names.length === 0) return;
  if ([...names, 'help'].includes(word)) return;
  const suggestion = didYouMean(word, names);
  const hint =
    suggestion === undefined ? '; skein --help lists them.' : `. Did you mean ${suggestion}?`;
  const path = first === 'help' ? word : `${first} ${word}`;
  throw new UsageError(`There is no command "${path}"${hint}`);
};

/** Throws UsageError for a prompt that is nearly a command name, because running a prompt costs money. */
const refuseTypo = (prompt: string | undefined, program: Command): void => {
  const names = program.commands.map((command) => command.name());
  const suggestion = prompt === undefined ? undefined : didYouMean(prompt, names);
  if (suggestion === undefined) return;
  throw new UsageError(
    `There is no command "${prompt}". Did you mean skein ${suggestion}? As a prompt, give it with -p.`,
  );
};

/**
 * Throws UsageError for a single word that is no command. Without a terminal nobody can stop the run,
 * and a script that names a command of another version would pay for a prompt.
 */
const refuseSingleWord = ([word, ...more]: readonly string[], program: Command): void => {
  if (word === undefined || more.length > 0 || !/^[^-\s]\S*$/.test(word)) return;
  const names = program.commands.flatMap((command) => [command.name(), ...command.aliases()]);
  if ([...names, 'help'].includes(word)) return;
  refuseTypo(word, program);
  const start = word.slice(0, SIMILAR_START).toLowerCase();
  const near = names.filter((name) => name.startsWith(start));
  const hint = near.length === 0 ? '' : ` Near: ${near.join(', ')}.`;
  throw new UsageError(
    `There is no command "${word.slice(0, 60)}".${hint} skein --help lists the commands; a prompt of one word needs -p.`,
  );
};

/** Number of letters that a near command starts with. */
const SIMILAR_START = 2;

/** Gives errors of Commander the prefix `skein:`, and adds how to find a session id. */
const rewordCommanderError = (text: string): string =>
  text
    .replace(/^error: /, 'skein: ')
    .replace(
      /(--resume <session>' )argument missing/,
      '$1needs the id of a session; skein sessions lists them',
    );

/** Prints the message of an error, with its stack if `isVerbose`. Returns the exit code. */
export const reportError = (error: unknown, isVerbose: boolean, { err }: TerminalHost): number => {
  if (error instanceof CommanderError) {
    // Commander has printed the text already. Its code is 0 for help and version.
    return error.exitCode === 0 ? ExitCode.done : ExitCode.usage;
  }
  const message = error instanceof Error ? error.message : String(error);
  err(`skein: ${message}\n`);
  if (isVerbose && error instanceof Error) err(`${error.stack}\n`);
  if (error instanceof UsageError) return ExitCode.usage;
  if (!(error instanceof SkeinError) && !isVerbose) {
    err('This is a defect of Skein; --verbose shows where.\n');
  }
  return ExitCode.failed;
};
