/** One living agent: the machine with its slots filled, and the few things others may do to it. */
import type { AgentContext } from '../../machines/agent-context.js';
import * as stops from '../../machines/stops.js';
import type {
  AgentEvent,
  AgentInput,
  AgentLimits,
  AgentReport,
  AgentState,
  Stop,
} from '../../protocol/agent/agent.js';
import type { Chance } from '../../protocol/clock.js';
import { UsageError } from '../../protocol/errors.js';
import type { RawJson } from '../../protocol/model/wire.js';
import type { Checkpoints } from '../../protocol/session/checkpoint.js';
import { type CrewDeps, crew } from '../calls/crew.js';
import { hasStopHooks } from '../hooks/stop-hooks.js';
import { type AskedCompaction, compactor } from '../turn/compactor.js';
import { modelTurn, type TurnDeps } from '../turn/model-turn.js';
import { retryDelay } from '../turn/retry-delay.js';
import { type AgentActor, agentActor } from './agent-actor.js';
import type { JournaledState } from './journaled-state.js';
import { RunLifecycle } from './run-lifecycle.js';

export interface AgentDeps extends Omit<CrewDeps, 'attempt' | 'defect'>, Omit<TurnDeps, 'defect'> {
  readonly chance: Chance;
  readonly limits: AgentLimits;
  /** Rests after a run instead of stopping. */
  readonly lingers: boolean;
  readonly checkpoints?: Checkpoints | undefined;
  /** Background children that have not reported yet, of an agent that is taken up again. */
  readonly expecting?: number;
  /** Told when it begins to rest, and when it goes on. */
  readonly rests?: (isResting: boolean) => void;
  /** Told when a run has ended, that is on record, and no other follows at once. */
  readonly ran?: (stop: Stop) => void;
  /** Told when a letter has come that waits, because it is held. */
  readonly called?: () => void;
}

export interface Agent {
  readonly state: AgentState;
  /** No run is under way or about to begin, and the end of the last one has been told. */
  readonly isResting: boolean;
  /**
   * Writes the letter down, under a name if it has one, and lets the agent know; one that it has had
   * already is no other. Throws a StorageError.
   */
  submit(from: string, blocks: RawJson, letter?: string, trace?: string): void;
  /** What its agents report waits until a person speaks to it, or lets it go on. */
  hold(): void;
  readonly isHeld: boolean;
  /** Goes on with the letters that wait. False when there are none, or it is at work. */
  goOn(): boolean;
  /**
   * The run ends as soon as it can, for this reason; `interrupted` when none is given. After the last one
   * none begins, whatever has been said meanwhile.
   */
  interrupt(stop?: Stop, isLast?: boolean): void;
  /** Nothing can be written for it any more: it stops at once, wherever it is. */
  fail(detail: string): void;
  /** So many of its background children have not reported yet. */
  expect(live: number): void;
  /** Makes room now; resolves with what was done. Rejects with a UsageError when nothing was. */
  compact(instructions: string): Promise<string>;
  /** Begins the conversation anew. Throws a UsageError while a run is under way. */
  clear(): void;
  /** Stops at once, wherever it is, as if the process had died there. */
  dismiss(): void;
  /** The agent is over. Rejects only for a defect of ours. */
  readonly stopped: Promise<AgentReport>;
}

export const startAgent = (deps: AgentDeps): Agent => {
  const { notebook, ids, feed, lingers } = deps;
  let defect: (error: unknown) => void;
  let asked: AskedCompaction | undefined;
  const takeAsked = () => {
    const taken = asked;
    asked = undefined;
    return taken;
  };
  const given = {
    defect: (error: unknown) => defect(error),
    attempt: () => attemptOf(actor.getSnapshot().context),
    ...deps,
  };
  const actor: AgentActor = agentActor(inputOf(deps), {
    crew: crew(given),
    modelTurn: modelTurn(given),
    compactor: compactor(given, takeAsked),
    pause: retryDelay(deps.clock, deps.chance, feed),
  });
  const goOn = (waiting: number) => actor.send({ type: 'run.begin', waiting });
  const runs = new RunLifecycle(notebook, feed, goOn, deps.parent === undefined);
  /** Files that it has changed are anybody's when it does not work. */
  const letGo = () => deps.edits?.release(deps.agent);
  let isCutOff = false;
  let isIdle = false;
  let isTold = false;
  /** No run follows the present one, whatever has been said meanwhile. */
  let isOver = false;
  let dismiss: () => void;
  const stopped = new Promise<AgentReport>((resolve, reject) => {
    const cutOff = (settle: () => void) => {
      isCutOff = true;
      settle();
      actor.stop();
    };
    defect = (error) => cutOff(() => reject(error));
    dismiss = () => {
      const { status, context } = actor.getSnapshot();
      const report = { stop: stops.INTERRUPTED, turns: context.turn };
      if (status === 'active') cutOff(() => resolve(report));
    };
    actor.subscribe({
      next({ value, context: { stop, turn } }) {
        if ((value === 'idle') !== isIdle) {
          isIdle = !isIdle;
          isTold = false;
          deps.rests?.(isIdle);
          if (isIdle) letGo();
        }
        if (!isIdle || stop === null) return;
        // A run may be over before anybody saw it begin.
        const isNews = runs.isRunning || !isTold;
        isTold = true;
        void runs.end(stop, turn, isOver).then(() => {
          if (isNews && isIdle && runs.isResting) deps.ran?.(stop);
        });
      },
      error: reject,
      complete() {
        if (isCutOff) return;
        const report = actor.getSnapshot().output as AgentReport;
        void runs.end(report.stop, report.turns, true).then(() => resolve(report));
      },
    });
  });
  stopped.then(letGo, letGo);
  /** One that has ended hears nothing more. */
  const tell = (event: AgentEvent) => {
    if (actor.getSnapshot().status === 'active') actor.send(event);
  };
  const beginAgain = (): boolean => {
    const { waiting } = notebook.history;
    if (waiting === 0 || !runs.isResting || actor.getSnapshot().value !== 'idle') return false;
    runs.begin();
    goOn(waiting);
    return true;
  };
  if (!lingers || hasWork(notebook)) runs.begin();
  actor.start();
  return {
    get state() {
      return actor.getSnapshot().value as AgentState;
    },
    get isResting() {
      return runs.isResting;
    },
    submit(from, blocks, named, trace) {
      const { status, context } = actor.getSnapshot();
      if (status !== 'active') throw new UsageError(OVER);
      if (notebook.hasLetter(named)) return;
      const letter = named ?? ids('letter');
      notebook.record({ type: 'letter.received', letter, from, trace, raw: blocks });
      const wasHeld = runs.isHeld;
      if (wasHeld && from !== 'user') {
        deps.called?.();
        return;
      }
      runs.isHeld = false;
      // It has not counted what came meanwhile.
      if (wasHeld && beginAgain()) return;
      const isWindingDown = runs.isRunning && context.stop !== null;
      if (runs.mayInterject(isWindingDown)) actor.send({ type: 'prompt.submit' });
    },
    hold() {
      runs.isHeld = true;
    },
    get isHeld() {
      return runs.isHeld;
    },
    goOn() {
      runs.isHeld = false;
      return beginAgain();
    },
    interrupt(stop = stops.INTERRUPTED, isLast = false) {
      isOver ||= isLast;
      tell({ type: 'agent.interrupt', stop });
    },
    fail: (detail) => tell({ type: 'storage.failed', detail }),
    expect: (live) => tell({ type: 'children.changed', live }),
    async compact(instructions) {
      refuseUnlessIdle(actor, runs);
      return new Promise((resolve, reject) => {
        asked = { instructions, resolve, reject };
        actor.send({ type: 'context.compact' });
      });
    },
    clear() {
      refuseUnlessIdle(actor, runs);
      const hadTodos = notebook.history.todos.length > 0;
      notebook.record({ type: 'prompt.broken', reason: 'clear', section: 'messages' });
      if (hadTodos) feed.emit({ type: 'todos.changed', todos: notebook.history.todos });
      deps.shelf.expire();
    },
    dismiss: () => dismiss(),
    stopped,
  };
};

const refuseUnlessIdle = (actor: AgentActor, { isResting }: RunLifecycle): void => {
  const { value, status } = actor.getSnapshot();
  if (status !== 'active') throw new UsageError(OVER);
  if (value === 'idle' && isResting) return;
  throw new UsageError('The agent is at work: wait until it rests, or interrupt it.');
};

const OVER = 'The agent has stopped for good; resume its session to go on.';

const hasWork = ({ history }: JournaledState): boolean =>
  history.waiting > 0 || history.calls.size > 0 || history.owesAnswer || history.cutShort;

const attemptOf = ({ turn, attempt }: AgentContext) => ({ turn, attempt });

/** Where the journal says that the agent is. */
const inputOf = (deps: AgentDeps): AgentInput => {
  const { agent, lingers, fallbackModel, limits } = deps;
  const { history } = deps.notebook;
  return {
    id: agent,
    lingers,
    limits,
    hasFallback: fallbackModel !== undefined,
    hasReview: hasStopHooks(deps),
    openCalls: [...history.calls.values()].map(({ id, result }) => {
      return { id, completed: result !== null };
    }),
    waiting: history.waiting,
    expecting: deps.expecting ?? 0,
    owesAnswer: history.owesAnswer,
    cutShort: history.cutShort,
  };
};
