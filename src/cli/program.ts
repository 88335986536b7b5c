/** The commands and their help. Each command's work is loaded when it is called. */
import { Command, CommanderError } from 'commander';
import { SkeinError, UsageError } from '../protocol/errors.js';
import { VERSION } from '../sdk/version.js';
import { EXIT } from './exit-code.js';
import type { Machine } from './machine.js';
import { addRunFlags, type RunFlags } from './run-flags.js';

const EXAMPLES = `
Examples:
  skein demo                                    watch an agent mend a failing test; needs no key
  skein -p "what does this project do?"         one answer, then exit
  git diff | skein -p "review this change"      the prompt may come from stdin
  skein -p "fix the tests" --permission-mode acceptEdits --allowed-tools "Bash(npm test)"
  skein -p --continue "and now the docs"        go on where the last run ended

Exit codes: 0 done, 1 the run failed, 2 wrong usage or configuration, 3 a limit was reached, 130 interrupted.
The model is reached with ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, at ANTHROPIC_BASE_URL if that is set.
State is kept in SKEIN_HOME (~/.skein).`;

export const runCommandLine = async (
  args: readonly string[],
  machine: Machine,
): Promise<number> => {
  let exitCode: number = EXIT.done;
  const program = buildProgram(machine, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return report(error, args.includes('--verbose'), machine);
  }
};

const buildProgram = (machine: Machine, end: (code: number) => void): Command => {
  const program = new Command('skein')
    .description('Runs coding agents whose every byte and effect is accounted for.')
    .version(VERSION, '-v, --version')
    .argument('[prompt]', 'what to do')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({ writeOut: machine.out, writeErr: machine.err })
    .showSuggestionAfterError();
  addRunFlags(program).action(async (prompt: string | undefined, flags: RunFlags) => {
    if (flags.print !== true && flags.inputFormat === 'text' && machine.stdin.isTTY) {
      throw new UsageError('Give a prompt with -p, as in skein -p "…", or try skein demo.');
    }
    if (flags.simulate !== undefined) {
      const { withSimulator } = await import('./simulated.js');
      end(await withSimulator(flags, machine, prompt));
    } else {
      const { printMode } = await import('./print-mode.js');
      end(await printMode(prompt, flags, machine));
    }
  });
  const child = (name: string, description: string) =>
    program.command(name).description(description).exitOverride();
  child('demo', 'an agent at work on the simulator, in a throw-away repository; needs no key')
    .option('--json', 'the figures as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { demo } = await import('./demo.js');
      end(await demo(machine, json === true));
    });
  child('config', 'the settings that apply here, and where each comes from')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { showConfig } = await import('./config-command.js');
      end(showConfig(command.optsWithGlobals<RunFlags & { json?: boolean }>(), machine));
    });
  child('trust', 'let the settings of this workspace apply in full')
    .option('--revoke', 'take the trust back')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { changeTrust } = await import('./trust-command.js');
      const flags = command.optsWithGlobals<RunFlags & { revoke?: boolean; json?: boolean }>();
      end(changeTrust(flags, machine));
    });
  child('sim', 'a local server of the Messages API that answers from a script')
    .option('--port <port>', 'where to listen; 0 picks a free one', '0')
    .option('--script <file>', 'what to answer; without one it echoes')
    .action(async (flags: { port: string; script?: string }) => {
      const { runSimulator } = await import('./sim-command.js');
      end(await runSimulator(flags, machine));
    });
  child('version', 'the version').action(() => machine.out(`${VERSION}\n`));
  return program;
};

/** One sentence that says what to do; a stack only when it was asked for. */
export const report = (error: unknown, verbose: boolean, { err }: Machine): number => {
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
