/** Adds the sub-commands with their flags and examples. Their code is loaded when they run. */
import { Argument, type Command } from 'commander';
import { VERSION } from '../sdk/assembly/version.js';
import type { TerminalHost } from '../terminal/terminal-host.js';
import { addSwarmCommands, SESSION_HELP } from './add-swarm-commands.js';
import type { DoctorFlags } from './commands/doctor/doctor-command.js';
import type { ContextFlags } from './commands/inspect/context-command.js';
import type { CostFlags } from './commands/inspect/cost-command.js';
import type { ExplainFlags } from './commands/inspect/explain-command.js';
import type { LogsFlags } from './commands/inspect/logs-command.js';
import type { ReplayFlags } from './commands/inspect/replay-command.js';
import type { ReportFlags } from './commands/inspect/report-command.js';
import type { RewindFlags } from './commands/rewind/rewind-command.js';
import type { PruneFlags } from './commands/sessions/prune-command.js';
import type { SessionsFlags } from './commands/sessions/sessions-command.js';
import type { AgentsFlags } from './commands/setup/agents-command.js';
import type { PromptFlags } from './commands/setup/prompt-command.js';
import type { TrustFlags } from './commands/setup/trust-command.js';
import { type RunFlags, wholeNumber } from './session/run-flags.js';

const SESSION_OR_AGENT = 'session or agent: its id or the beginning of it';

/** Adds all sub-commands to the program. `end` receives the exit code. */
export const addCommands = (program: Command, host: TerminalHost, end: (code: number) => void) => {
  const child = (parent: Command, name: string, description: string, example: string) =>
    parent
      .command(name)
      .description(description)
      .exitOverride()
      .addHelpText('after', `\nExample:\n  ${example}`);

  program.commandsGroup('Getting started:');
  child(
    program,
    'demo',
    'run a swarm on the simulator, in a temporary repository; needs no key',
    'skein demo',
  )
    .option('--json', 'the results as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { demo } = await import('./demo/demo.js');
      end(await demo(host, json === true));
    });
  child(program, 'doctor', 'what works on this machine, and how to fix the rest', 'skein doctor')
    .option('--json', 'as JSON')
    .option('--online', 'also check the key with the model server')
    .action(async (_: unknown, command: Command) => {
      const { doctorCommand } = await import('./commands/doctor/doctor-command.js');
      end(await doctorCommand(command.optsWithGlobals<DoctorFlags>(), host));
    });

  program.commandsGroup('Running swarms:');
  addSwarmCommands((...args) => child(program, ...args), host, end);

  program.commandsGroup('What happened:');
  const sessions = child(
    program,
    'sessions',
    'the sessions of this directory, newest first',
    'skein sessions --all --search "flaky test"',
  )
    .option('--all', 'sessions of every directory')
    .option('--search <text>', 'only sessions that contain this text')
    .option('--limit <n>', 'maximum number of sessions', wholeNumber, 20)
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { sessionsCommand } = await import('./commands/sessions/sessions-command.js');
      end(await sessionsCommand(command.optsWithGlobals<SessionsFlags>(), host));
    });
  child(
    sessions,
    'prune',
    'remove old sessions of every directory',
    'skein sessions prune --older-than 30d --dry-run',
  )
    .option('--older-than <age>', '12h, 30d or 2w; default: the setting sessionRetentionDays')
    .option('--dry-run', 'only show what would be removed')
    .option('--yes', 'do not ask')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { pruneCommand } = await import('./commands/sessions/prune-command.js');
      end(await pruneCommand(command.optsWithGlobals<PruneFlags>(), host));
    });
  child(
    program,
    'cost',
    'the cost of a session, its cache reads, its cache misses and their causes',
    'skein cost s_4k7',
  )
    .argument('[session]', SESSION_HELP)
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { costCommand } = await import('./commands/inspect/cost-command.js');
      end(await costCommand(session, command.optsWithGlobals<CostFlags>(), host));
    });
  child(
    program,
    'context',
    'what fills the context window of a session, as a chart',
    'skein context s_4k7',
  )
    .argument('[session]', SESSION_OR_AGENT)
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { contextCommand } = await import('./commands/inspect/context-command.js');
      end(await contextCommand(session, command.optsWithGlobals<ContextFlags>(), host));
    });
  child(program, 'logs', 'what happened in a session, line by line', 'skein logs --follow')
    .argument('[session]', SESSION_OR_AGENT)
    .option('-f, --follow', 'print new events until the session ends')
    .option('--limit <n>', 'only the last n events', wholeNumber)
    .option('--json', 'raw events as JSON, one per line')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { logsCommand } = await import('./commands/inspect/logs-command.js');
      end(await logsCommand(session, command.optsWithGlobals<LogsFlags>(), host));
    });

  child(
    program,
    'replay',
    'play a session back on the swarm screen, forwards and backwards',
    'skein replay s_4k7 --speed 10 --from 40%',
  )
    .argument('[session]', SESSION_HELP)
    .option('--speed <n>', 'speed relative to the session, 0.25 to 1000 (1)')
    .option('--from <moment>', 'start: 40%, 90s, 1h30m, 14:05 or a date and time')
    .option('--real-time', 'do not shorten long pauses')
    .option('--json', 'raw events as JSON, one per line')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { replayCommand } = await import('./commands/inspect/replay-command.js');
      end(await replayCommand(session, command.optsWithGlobals<ReplayFlags>(), host));
    });
  child(
    program,
    'explain',
    'why a call ran or did not run: the deciding step and rule, hooks, answers, files',
    'skein explain s_4k7 3',
  )
    .argument('[session]', SESSION_HELP)
    .argument('[call]', 'call number, id or its beginning; without it, calls are listed')
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, call: string | undefined, ...rest: unknown[]) => {
      const { explainCommand } = await import('./commands/inspect/explain-command.js');
      const flags = (rest[1] as Command).optsWithGlobals<ExplainFlags>();
      end(await explainCommand(session, call, flags, host));
    });
  child(
    program,
    'report',
    'a session as one HTML page: timeline, cost, tokens, cache, agents, permissions',
    'skein report s_4k7 --output swarm.html',
  )
    .argument('[session]', SESSION_HELP)
    .option('-o, --output <file>', 'file to write; - is stdout')
    .option('--force', 'replace a file that is not a report')
    .option('--json', 'the data of the report as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { reportCommand } = await import('./commands/inspect/report-command.js');
      end(await reportCommand(session, command.optsWithGlobals<ReportFlags>(), host));
    });
  child(
    program,
    'rewind',
    'restore files and conversation to before a prompt; shows the changes, and can be undone',
    'skein rewind s_4k7 --to 3 --dry-run',
  )
    .argument('[session]', SESSION_HELP)
    .option('--list', 'list the prompts that a rewind can go to')
    .option('--to <n>', 'undo this prompt and all later prompts; default: the newest', wholeNumber)
    .option('--files', 'only the files')
    .option('--conversation', 'only the conversation')
    .option('--both', 'files and conversation (default)')
    .option('--undo', 'undo the last rewind')
    .option('--dry-run', 'only show what would change')
    .option('--force', 'also restore files that were changed since by others')
    .option('--yes', 'do not ask')
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { rewindCommand } = await import('./commands/rewind/rewind-command.js');
      end(await rewindCommand(session, command.optsWithGlobals<RewindFlags>(), host));
    });

  program.commandsGroup('Setup:');
  child(
    program,
    'config',
    'the settings that apply here, and where each comes from',
    'skein config --json',
  )
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { configCommand } = await import('./commands/setup/config-command.js');
      end(configCommand(command.optsWithGlobals<RunFlags & { json?: boolean }>(), host));
    });
  child(
    program,
    'prompt',
    'the prompt of a new session: each block with its source, size, cache breakpoint and digest',
    'skein prompt --agent reviewer',
  )
    .option('--agent <agent>', 'the prompt of this agent')
    .option('--json', 'as JSON, with the text of all tools')
    .action(async (_: unknown, command: Command) => {
      const { promptCommand } = await import('./commands/setup/prompt-command.js');
      end(await promptCommand(command.optsWithGlobals<PromptFlags>(), host));
    });
  child(
    program,
    'agents',
    'the agents that are defined here, with their sources, tools and problems',
    'skein agents --json',
  )
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { agentsCommand } = await import('./commands/setup/agents-command.js');
      end(await agentsCommand(command.optsWithGlobals<AgentsFlags>(), host));
    });
  child(
    program,
    'trust',
    'trust this workspace, so that all its settings apply',
    'skein trust --include ~/rules/style.md',
  )
    .option('--revoke', 'revoke the trust; with --includes, forget the answers about includes')
    .option('--includes', 'list the files outside the workspace that instruction files include')
    .option('--include <files...>', 'allow instruction files to include these files')
    .option('--json', 'as JSON')
    .action(async (_: unknown, command: Command) => {
      const { trustCommand } = await import('./commands/setup/trust-command.js');
      end(await trustCommand(command.optsWithGlobals<TrustFlags>(), host));
    });
  child(
    program,
    'completion',
    'a script that completes commands, flags and values in your shell',
    'echo \'eval "$(skein completion bash)"\' >> ~/.bashrc',
  )
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: string) => {
      const { completionScript } = await import('./commands/completion/completion-script.js');
      host.out(completionScript(shell));
    });
  child(
    program,
    'sim',
    'a local server of the Messages API that answers from a script',
    'skein sim --port 8080 --script answers.json',
  )
    .option('--port <port>', 'port to listen on; 0 picks a free port', '0')
    .option('--script <file>', 'replies as JSON; without it, the server echoes')
    .action(async (flags: { port: string; script?: string }) => {
      const { simCommand } = await import('./commands/setup/sim-command.js');
      end(await simCommand(flags, host));
    });
  child(program, 'version', 'print the version', 'skein version').action(() =>
    host.out(`${VERSION}\n`),
  );
  program.helpCommand('help [command]', 'this help, or the help of a command');
};
