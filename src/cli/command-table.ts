/** The commands beside a run, each with its flags and an example. Their work is loaded when called. */
import { Argument, type Command } from 'commander';
import { VERSION } from '../sdk/version.js';
import type { TerminalHost } from '../terminal/terminal-host.js';
import type { DoctorFlags } from './commands/doctor/doctor-command.js';
import type { ContextFlags } from './commands/inspect/context-command.js';
import type { CostFlags } from './commands/inspect/cost-command.js';
import type { ExplainFlags } from './commands/inspect/explain-command.js';
import type { LogsFlags } from './commands/inspect/logs-command.js';
import type { PruneFlags } from './commands/inspect/prune-command.js';
import type { ReplayFlags } from './commands/inspect/replay-command.js';
import type { ReportFlags } from './commands/inspect/report-command.js';
import type { SessionsFlags } from './commands/inspect/sessions-command.js';
import type { RewindFlags } from './commands/rewind/rewind-command.js';
import type { AgentsFlags } from './commands/setup/agents-command.js';
import type { PromptFlags } from './commands/setup/prompt-command.js';
import type { TrustFlags } from './commands/setup/trust-command.js';
import { type RunFlags, wholeNumber } from './run/run-flags.js';
import { addSwarmCommands } from './swarm-commands.js';

/** Adds them to the program; `end` is told the exit code. */
export const addCommands = (
  program: Command,
  machine: TerminalHost,
  end: (code: number) => void,
) => {
  const child = (parent: Command, name: string, description: string, example: string) =>
    parent
      .command(name)
      .description(description)
      .exitOverride()
      .addHelpText('after', `\nExample:\n  ${example}`);

  program.commandsGroup('To begin:');
  child(
    program,
    'demo',
    'a swarm at work on the simulator, in a throw-away repository; needs no key',
    'skein demo',
  )
    .option('--json', 'the figures as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { demo } = await import('./demo/demo.js');
      end(await demo(machine, json === true));
    });
  child(program, 'doctor', 'what works on this machine, and how to mend the rest', 'skein doctor')
    .option('--json', 'as JSON')
    .option('--online', 'also ask the model server whether it knows the key')
    .action(async (_: unknown, command: Command) => {
      const { runDoctor } = await import('./commands/doctor/doctor-command.js');
      end(await runDoctor(command.optsWithGlobals<DoctorFlags>(), machine));
    });

  program.commandsGroup('Running swarms:');
  addSwarmCommands((...given) => child(program, ...given), machine, end);

  program.commandsGroup('What happened:');
  const sessions = child(
    program,
    'sessions',
    'the sessions of this directory, newest first',
    'skein sessions --all --search "flaky test"',
  )
    .option('--all', 'those of every directory')
    .option('--search <text>', 'only those where somebody said this')
    .option('--limit <n>', 'how many to show', wholeNumber, 20)
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { listSessions } = await import('./commands/inspect/sessions-command.js');
      end(await listSessions(command.optsWithGlobals<SessionsFlags>(), machine));
    });
  child(
    sessions,
    'prune',
    'remove old sessions of every directory',
    'skein sessions prune --older-than 30d --dry-run',
  )
    .option('--older-than <age>', '12h, 30d or 2w; without it the setting sessionRetentionDays')
    .option('--dry-run', 'only say what would be removed')
    .option('--yes', 'do not ask')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { pruneSessions } = await import('./commands/inspect/prune-command.js');
      end(await pruneSessions(command.optsWithGlobals<PruneFlags>(), machine));
    });
  child(
    program,
    'cost',
    'what a session cost, what was read from the cache, what missed it and why',
    'skein cost s_4k7',
  )
    .argument('[session]', 'its id or the beginning of it; without one the newest here')
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { showCost } = await import('./commands/inspect/cost-command.js');
      end(await showCost(session, command.optsWithGlobals<CostFlags>(), machine));
    });
  child(
    program,
    'context',
    'what fills the context window of a session, as a chart',
    'skein context s_4k7',
  )
    .argument('[session]', 'a session or an agent, or the beginning of its id')
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { showContext } = await import('./commands/inspect/context-command.js');
      end(await showContext(session, command.optsWithGlobals<ContextFlags>(), machine));
    });
  child(program, 'logs', 'what happened in a session, line by line', 'skein logs --follow')
    .argument('[session]', 'a session or an agent, or the beginning of its id')
    .option('-f, --follow', 'go on until the session ends')
    .option('--limit <n>', 'only the last ones', wholeNumber)
    .option('--json', 'the events as they are, one a line')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { showLogs } = await import('./commands/inspect/logs-command.js');
      end(await showLogs(session, command.optsWithGlobals<LogsFlags>(), machine));
    });

  child(
    program,
    'replay',
    'play what happened in a session back on the swarm screen, forwards and backwards',
    'skein replay s_4k7 --speed 10 --from 40%',
  )
    .argument('[session]', 'its id or the beginning of it; without one the newest here')
    .option('--speed <n>', 'how many times as fast as it was, 0.25 to 1000 (1)')
    .option('--from <moment>', 'where to begin: 40%, 90s, 1h30m, 14:05 or a date and time')
    .option('--real-time', 'let long pauses be as long as they were')
    .option('--json', 'the events as they are, one a line')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { replay } = await import('./commands/inspect/replay-command.js');
      end(await replay(session, command.optsWithGlobals<ReplayFlags>(), machine));
    });
  child(
    program,
    'explain',
    'why a call ran or did not: the step and the rule that decided, hooks, answers, files',
    'skein explain s_4k7 3',
  )
    .argument('[session]', 'its id or the beginning of it; without one the newest here')
    .argument('[call]', 'its number, its id or the beginning of it; without one they are listed')
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, call: string | undefined, ...rest: unknown[]) => {
      const { showExplanation } = await import('./commands/inspect/explain-command.js');
      const flags = (rest[1] as Command).optsWithGlobals<ExplainFlags>();
      end(await showExplanation(session, call, flags, machine));
    });
  child(
    program,
    'report',
    'a session as one HTML page: timeline, cost, tokens, cache, agents, permissions',
    'skein report s_4k7 --output swarm.html',
  )
    .argument('[session]', 'its id or the beginning of it; without one the newest here')
    .option('-o, --output <file>', 'where to write it; - is stdout')
    .option('--force', 'also over a file that is no report')
    .option('--json', 'the data of the report as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { writeReport } = await import('./commands/inspect/report-command.js');
      end(await writeReport(session, command.optsWithGlobals<ReportFlags>(), machine));
    });
  child(
    program,
    'rewind',
    'take files and conversation back to before a prompt; shows what changes, and can be undone',
    'skein rewind s_4k7 --to 3 --dry-run',
  )
    .argument('[session]', 'its id or the beginning of it; without one the newest here')
    .option('--list', 'the prompts that can be gone back to')
    .option('--to <n>', 'this prompt and all after it; without it the newest', wholeNumber)
    .option('--files', 'only the files')
    .option('--conversation', 'only the conversation')
    .option('--both', 'both, as without any of these')
    .option('--undo', 'take back the last rewind')
    .option('--dry-run', 'only show what would change')
    .option('--force', 'also what somebody else has changed since')
    .option('--yes', 'do not ask')
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { rewind } = await import('./commands/rewind/rewind-command.js');
      end(await rewind(session, command.optsWithGlobals<RewindFlags>(), machine));
    });

  program.commandsGroup('Setting up:');
  child(
    program,
    'config',
    'the settings that apply here, and where each comes from',
    'skein config --json',
  )
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { showConfig } = await import('./commands/setup/config-command.js');
      end(showConfig(command.optsWithGlobals<RunFlags & { json?: boolean }>(), machine));
    });
  child(
    program,
    'prompt',
    'what a new session here is told first: each block with its source, size, mark and digest',
    'skein prompt --agent reviewer',
  )
    .option('--agent <agent>', 'the prompt of this agent')
    .option('--json', 'as JSON, with the text of the tools')
    .action(async (_: unknown, command: Command) => {
      const { showPrompt } = await import('./commands/setup/prompt-command.js');
      end(await showPrompt(command.optsWithGlobals<PromptFlags>(), machine));
    });
  child(
    program,
    'agents',
    'the agents that can be asked for here: where each comes from, its tools, what is wrong',
    'skein agents --json',
  )
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { showAgents } = await import('./commands/setup/agents-command.js');
      end(await showAgents(command.optsWithGlobals<AgentsFlags>(), machine));
    });
  child(
    program,
    'trust',
    'let the settings of this workspace apply in full',
    'skein trust --include ~/rules/style.md',
  )
    .option('--revoke', 'take the trust back, or with --includes what was said of those')
    .option('--includes', 'list the files outside that instruction files include')
    .option('--include <files...>', 'let instruction files include these')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { changeTrust } = await import('./commands/setup/trust-command.js');
      end(await changeTrust(command.optsWithGlobals<TrustFlags>(), machine));
    });
  child(
    program,
    'completion',
    'a script that completes commands, flags and values in your shell',
    'echo \'eval "$(skein completion bash)"\' >> ~/.bashrc',
  )
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: string) => {
      const { completionScript } = await import('./commands/completion/completion-scripts.js');
      machine.out(completionScript(shell));
    });
  child(
    program,
    'sim',
    'a local server of the Messages API that answers from a script',
    'skein sim --port 8080 --script answers.json',
  )
    .option('--port <port>', 'where to listen; 0 picks a free one', '0')
    .option('--script <file>', 'what to answer; without one it echoes')
    .action(async (flags: { port: string; script?: string }) => {
      const { runSimulator } = await import('./commands/setup/sim-command.js');
      end(await runSimulator(flags, machine));
    });
  child(program, 'version', 'the version', 'skein version').action(() =>
    machine.out(`${VERSION}\n`),
  );
  program.helpCommand('help [command]', 'this text, or that of a command');
};
