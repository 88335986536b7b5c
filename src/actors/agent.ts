/** One living agent: the machine with its slots filled, and the few things others may do to it. */
import { type Actor, createActor } from 'xstate';
import { agentMachine } from '../machines/agent-machine.js';
import type {
  AgentContext,
  AgentInput,
  AgentLimits,
  AgentReport,
  AgentState,
  Stop,
} from '../protocol/agent.js';
import type { Chance } from '../protocol/clock.js';
import { StorageError } from '../protocol/errors.js';
import type { RawJson } from '../protocol/wire.js';
import { compactor } from './compactor.js';
import { type CrewDeps, crew } from './crew.js';
import { modelTurn, type TurnDeps } from './model-turn.js';
import type { Notebook } from './notebook.js';
import { pause } from './pause.js';

export interface AgentDeps extends Omit<CrewDeps, 'attempt' | 'defect'>, Omit<TurnDeps, 'defect'> {
  readonly chance: Chance;
  readonly limits: AgentLimits;
  /** Rests after a run instead of stopping. */
  readonly lingers: boolean;
}

export interface Agent {
  readonly state: AgentState;
  /** No run is under way or about to begin, and the end of the last one has been told. */
  readonly isResting: boolean;
  /** Writes the letter down and lets the agent know. Throws a StorageError. */
  submit(from: string, blocks: RawJson): void;
  interrupt(): void;
  /** The agent is over. Rejects only for a defect of ours. */
  readonly stopped: Promise<AgentReport>;
}

export const startAgent = (deps: AgentDeps): Agent => {
  const { notebook, ids, feed, lingers } = deps;
  let defect: (error: unknown) => void;
  const fails = { defect: (error: unknown) => defect(error) };
  const attempt = () => attemptOf(actor.getSnapshot().context);
  const actor: Actor<typeof agentMachine> = createActor(
    agentMachine.provide({
      actors: {
        crew: crew({ ...deps, ...fails, attempt }),
        modelTurn: modelTurn({ ...deps, ...fails }),
        compactor: compactor(notebook, feed),
        pause: pause(deps.clock, deps.chance, feed),
      },
    }),
    { input: inputOf(deps) },
  );
  /** The last run's end reaching the disk. Nobody is told of it before that. */
  let settling: Promise<void> | undefined;
  let isRunning = false;
  /** Letters that came while a run was winding down: they are for the next. */
  let early = 0;
  const endRun = async (stop: Stop, turns: number, final: boolean): Promise<void> => {
    if (!isRunning) return;
    isRunning = false;
    const { reason, detail } = stop;
    recordIfPossible(notebook, { type: 'run.ended', reason, detail, turns, final });
    settling = notebook
      .sync()
      .catch(() => undefined)
      .then(() => {
        settling = undefined;
        feed.emit({ type: 'run.ended', stop, turns });
        for (; early > 0 && !final; early -= 1) prompt();
      });
    await settling;
  };
  let isBroken = false;
  const stopped = new Promise<AgentReport>((resolve, reject) => {
    defect = (error) => {
      isBroken = true;
      reject(error);
      actor.stop();
    };
    actor.subscribe({
      next({ value, context: { stop, turn } }) {
        if (value === 'idle' && stop !== null) void endRun(stop, turn, false);
      },
      error: reject,
      complete() {
        if (isBroken) return;
        const report = actor.getSnapshot().output as AgentReport;
        void endRun(report.stop, report.turns, true).then(() => resolve(report));
      },
    });
  });
  const beginRun = () => {
    isRunning = true;
    recordIfPossible(notebook, { type: 'run.started', run: notebook.history.runs + 1 });
  };
  const prompt = () => {
    if (!isRunning) beginRun();
    actor.send({ type: 'prompt.submit' });
  };
  if (!lingers || hasWork(notebook)) beginRun();
  actor.start();
  return {
    get state() {
      return actor.getSnapshot().value as AgentState;
    },
    get isResting() {
      if (actor.getSnapshot().status !== 'active') return settling === undefined;
      return !isRunning && settling === undefined && early === 0;
    },
    submit(from, blocks) {
      notebook.record({ type: 'letter.received', letter: ids('letter'), from, raw: blocks });
      const isWindingDown = isRunning && actor.getSnapshot().context.stop !== null;
      if (settling === undefined && !isWindingDown) prompt();
      else early += 1;
    },
    interrupt: () => actor.send({ type: 'agent.interrupt' }),
    stopped,
  };
};

const hasWork = ({ history }: Notebook): boolean =>
  history.letters.size > 0 || history.calls.size > 0 || history.owesAnswer;

const attemptOf = ({ turn, attempt }: AgentContext) => ({ turn, attempt });

/** Where the journal says that the agent is. */
const inputOf = ({ notebook, agent, lingers, fallbackModel, limits }: AgentDeps): AgentInput => {
  const { history } = notebook;
  return {
    id: agent,
    lingers,
    limits,
    hasFallback: fallbackModel !== undefined,
    openCalls: [...history.calls.values()].map(({ id, result }) => {
      return { id, completed: result !== null };
    }),
    waiting: history.letters.size,
    owesAnswer: history.owesAnswer,
  };
};

/** The end of a run that a full disk stopped cannot be written down; the next start sees as much. */
const recordIfPossible = (notebook: Notebook, body: Parameters<Notebook['record']>[0]): void => {
  try {
    notebook.record(body);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
};
