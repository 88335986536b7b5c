/** Adds the commands that watch and steer the running swarms of the store. */
import { type Command, Option } from 'commander';
import type { TerminalHost } from '../terminal/terminal-host.js';
import type { ApproveFlags } from './commands/swarm/approve-command.js';
import type { DenyFlags } from './commands/swarm/deny-command.js';
import type { InboxFlags } from './commands/swarm/inbox-command.js';
import type { PsFlags } from './commands/swarm/ps-command.js';
import type { ResumeFlags } from './commands/swarm/resume-command.js';
import type { SteerFlags } from './commands/swarm/steer-running-agent.js';
import type { TasksFlags } from './commands/swarm/tasks-command.js';
import type { TopFlags } from './commands/swarm/top-command.js';
import type { WorkerFlags } from './commands/swarm/worker-command.js';
import { startSession } from './start-session.js';

/** Adds a command whose help ends with an example. */
type AddCommand = (name: string, description: string, example: string) => Command;

export const SESSION_HELP =
  'session id or its beginning; default: the newest session of this directory';
const AGENT = 'agent name, id or its beginning; a session id means its lead';
const QUESTION = 'question id or its beginning; skein inbox lists them';

/** Adds the commands. `end` receives the exit code. */
export const addSwarmCommands = (
  add: AddCommand,
  host: TerminalHost,
  end: (code: number) => void,
): void => {
  add('ps', 'the running swarms, as trees of agents', 'skein ps --all')
    .argument('[session]', 'only this session, running or not')
    .option('--all', 'also the sessions that ran last')
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { psCommand } = await import('./commands/swarm/ps-command.js');
      end(await psCommand(session, command.optsWithGlobals<PsFlags>(), host));
    });
  add('top', 'the running swarms, live on the whole terminal; ? shows the keys', 'skein top s_4k7')
    .argument('[session]', 'only this session, running or not')
    .option('--json', 'print once, as skein ps --json')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { topCommand } = await import('./commands/swarm/top-command.js');
      end(await topCommand(session, command.optsWithGlobals<TopFlags>(), host));
    });
  add('tasks', 'the task list that the agents of a session share', 'skein tasks s_4k7')
    .argument('[session]', SESSION_HELP)
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { tasksCommand } = await import('./commands/swarm/tasks-command.js');
      end(await tasksCommand(session, command.optsWithGlobals<TasksFlags>(), host));
    });
  add(
    'worker',
    'run background agents of swarms in Redis, until it is stopped',
    'skein worker --concurrency 8',
  )
    .option('--concurrency <agents>', 'maximum number of agents at once (20)')
    .option('--rate <agents>', 'maximum agents started per minute, by all workers together')
    .option('--json', 'events as JSON, one per line')
    .action(async (_: unknown, command: Command) => {
      const { workerCommand } = await import('./commands/swarm/worker-command.js');
      end(await workerCommand(command.optsWithGlobals<WorkerFlags>(), host));
    });
  add('send', 'send a message to an agent of a running swarm', 'skein send lead "skip the docs"')
    .argument('<agent>', AGENT)
    .argument('[text]', 'the message; default: stdin')
    .option('--json', 'the reply as JSON')
    .action(async (agent: string, text: string | undefined, ...rest: unknown[]) => {
      const { sendCommand } = await import('./commands/swarm/send-command.js');
      end(await sendCommand(agent, text, flagsOf<SteerFlags>(rest), host));
    });
  add('stop', 'stop an agent of a running swarm and its descendants', 'skein stop a_4k7')
    .argument('<agent>', AGENT)
    .option('--json', 'the reply as JSON')
    .action(async (agent: string, _: unknown, command: Command) => {
      const { stopCommand } = await import('./commands/swarm/stop-command.js');
      end(await stopCommand(agent, command.optsWithGlobals<SteerFlags>(), host));
    });
  add('resume', 'resume a session, or an agent that was stopped or lost', 'skein resume s_4k7')
    .argument('<session-or-agent>', 'name, id or its beginning')
    .argument('[prompt]', 'the next prompt of the session')
    .option('--json', 'the reply, or the result of the run, as JSON')
    .action(async (query: string, prompt: string | undefined, ...rest: unknown[]) => {
      const { resumeCommand } = await import('./commands/swarm/resume-command.js');
      const flags = flagsOf<ResumeFlags>(rest);
      const resumed = await resumeCommand(query, prompt, flags, host);
      if (typeof resumed === 'number') end(resumed);
      else await startSession(prompt, resumed, host, end);
    });
  add('inbox', 'the open questions of running swarms', 'skein inbox')
    .argument('[session]', 'only questions of this session')
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { inboxCommand } = await import('./commands/swarm/inbox-command.js');
      end(await inboxCommand(session, command.optsWithGlobals<InboxFlags>(), host));
    });
  add('approve', 'allow the call of a question', 'skein approve q_4k7 --for session')
    .argument('<question>', QUESTION)
    .addOption(
      new Option(
        '--for <scope>',
        'allow only this call, or all calls that its rule allows',
      ).choices(['once', 'session', 'project']),
    )
    .option('--json', 'the reply as JSON')
    .action(async (question: string, _: unknown, command: Command) => {
      const { approveCommand } = await import('./commands/swarm/approve-command.js');
      end(await approveCommand(question, command.optsWithGlobals<ApproveFlags>(), host));
    });
  add('deny', 'deny the call of a question', 'skein deny q_4k7 --reason "use the fixtures"')
    .argument('<question>', QUESTION)
    .option('--reason <text>', 'the reason that the agent gets')
    .option('--json', 'the reply as JSON')
    .action(async (question: string, _: unknown, command: Command) => {
      const { denyCommand } = await import('./commands/swarm/deny-command.js');
      end(await denyCommand(question, command.optsWithGlobals<DenyFlags>(), host));
    });
};

/** Returns the flags of the command, which Commander passes as the last argument. */
const flagsOf = <Flags>(rest: readonly unknown[]): Flags =>
  (rest.at(-1) as Command).optsWithGlobals() as Flags;
