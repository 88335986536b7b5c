/** The commands that watch and steer running swarms, from any terminal of this machine. */
import { type Command, Option } from 'commander';
import type { TerminalHost } from '../terminal/terminal-host.js';
import type { TasksFlags } from './commands/inspect/tasks-command.js';
import type { ApproveFlags, DenyFlags } from './commands/swarm/approve-command.js';
import type { InboxFlags } from './commands/swarm/inbox-command.js';
import type { PsFlags } from './commands/swarm/ps-command.js';
import type { ResumeFlags } from './commands/swarm/resume-command.js';
import type { SteerFlags } from './commands/swarm/steer-command.js';
import type { TopFlags } from './commands/swarm/top-command.js';
import type { WorkerFlags } from './commands/swarm/worker-command.js';

/** Adds one command with an example under its help. */
export type AddCommand = (name: string, description: string, example: string) => Command;

const AGENT = 'its name, its id or the beginning of it; a session means its lead';
const QUESTION = 'its id or the beginning of it; skein inbox lists them';

/** `end` is told the exit code. */
export const addSwarmCommands = (
  add: AddCommand,
  machine: TerminalHost,
  end: (code: number) => void,
): void => {
  add('ps', 'the running swarms of this machine, as trees of agents', 'skein ps --all')
    .argument('[session]', 'only this one, whether it runs or not')
    .option('--all', 'also those that ran last')
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { listSwarms } = await import('./commands/swarm/ps-command.js');
      end(await listSwarms(session, command.optsWithGlobals<PsFlags>(), machine));
    });
  add('top', 'the running swarms on the whole terminal, live; ? tells the keys', 'skein top s_4k7')
    .argument('[session]', 'only this one, whether it runs or not')
    .option('--json', 'once, as skein ps --json')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { showTop } = await import('./commands/swarm/top-command.js');
      end(await showTop(session, command.optsWithGlobals<TopFlags>(), machine));
    });
  add('tasks', 'the list of work that the agents of a session share', 'skein tasks s_4k7')
    .argument('[session]', 'its id or the beginning of it; without one the newest here')
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { showTasks } = await import('./commands/inspect/tasks-command.js');
      end(await showTasks(session, command.optsWithGlobals<TasksFlags>(), machine));
    });
  add(
    'worker',
    'take background agents of swarms in Redis, until it is ended',
    'skein worker --concurrency 8',
  )
    .option('--concurrency <agents>', 'so many at once (20)')
    .option('--rate <agents>', 'so many are begun in a minute, by all workers together')
    .option('--json', 'what happens as JSON, a line each')
    .action(async (_: unknown, command: Command) => {
      const { runWorker } = await import('./commands/swarm/worker-command.js');
      end(await runWorker(command.optsWithGlobals<WorkerFlags>(), machine));
    });
  add('send', 'tell an agent of a running swarm something', 'skein send lead "skip the docs"')
    .argument('<agent>', AGENT)
    .argument('[text]', 'what to tell it; without it stdin')
    .option('--json', 'the reply as JSON')
    .action(async (agent: string, text: string | undefined, ...rest: unknown[]) => {
      const { sendToAgent } = await import('./commands/swarm/steer-command.js');
      end(await sendToAgent(agent, text, flagsOf<SteerFlags>(rest), machine));
    });
  add('stop', 'stop an agent of a running swarm, and all that work for it', 'skein stop a_4k7')
    .argument('<agent>', AGENT)
    .option('--json', 'the reply as JSON')
    .action(async (agent: string, _: unknown, command: Command) => {
      const { stopAgent } = await import('./commands/swarm/steer-command.js');
      end(await stopAgent(agent, command.optsWithGlobals<SteerFlags>(), machine));
    });
  add(
    'resume',
    'go on with a session, or with an agent that was stopped or lost',
    'skein resume s_4k7',
  )
    .argument('<session-or-agent>', 'its name, its id or the beginning of it')
    .argument('[prompt]', 'what a session is to do next')
    .option('--json', 'the reply, or the result of the run, as JSON')
    .action(async (wanted: string, prompt: string | undefined, ...rest: unknown[]) => {
      const { resume } = await import('./commands/swarm/resume-command.js');
      await resume(wanted, prompt, flagsOf<ResumeFlags>(rest), machine, end);
    });
  add('inbox', 'the questions of running swarms that wait for an answer', 'skein inbox')
    .argument('[session]', 'only of this one')
    .option('--json', 'as JSON')
    .action(async (session: string | undefined, _: unknown, command: Command) => {
      const { showInbox } = await import('./commands/swarm/inbox-command.js');
      end(await showInbox(session, command.optsWithGlobals<InboxFlags>(), machine));
    });
  add('approve', 'let the call run that a question is about', 'skein approve q_4k7 --for session')
    .argument('<question>', QUESTION)
    .addOption(
      new Option('--for <scope>', 'this call alone, or all that its rule allows').choices([
        'once',
        'session',
        'project',
      ]),
    )
    .option('--json', 'the reply as JSON')
    .action(async (question: string, _: unknown, command: Command) => {
      const { approve } = await import('./commands/swarm/approve-command.js');
      end(await approve(question, command.optsWithGlobals<ApproveFlags>(), machine));
    });
  add('deny', 'do not let it run, and say why', 'skein deny q_4k7 --reason "use the fixtures"')
    .argument('<question>', QUESTION)
    .option('--reason <text>', 'what the agent is told')
    .option('--json', 'the reply as JSON')
    .action(async (question: string, _: unknown, command: Command) => {
      const { deny } = await import('./commands/swarm/approve-command.js');
      end(await deny(question, command.optsWithGlobals<DenyFlags>(), machine));
    });
};

/** Commander hands the command over last. */
const flagsOf = <Flags>(rest: readonly unknown[]): Flags =>
  (rest.at(-1) as Command).optsWithGlobals() as Flags;
