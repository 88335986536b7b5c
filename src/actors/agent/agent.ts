/** A running agent: the actor with its slots filled, and the operations on it. */
import type { AgentContext } from '../../machines/agent-context.js';
import { stops } from '../../machines/stops.js';
import type { AgentLimits } from '../../protocol/agent/agent-limits.js';
import type {
  AgentEvent,
  AgentInput,
  AgentOutput,
  AgentState,
} from '../../protocol/agent/agent-state.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { Random } from '../../protocol/clock.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { Checkpoints } from '../../protocol/session/checkpoints.js';
import { UsageError } from '../../protocol/skein-error.js';
import { type CrewDeps, crew } from '../calls/crew.js';
import { DeferredChanges } from '../checkpoints/deferred-changes.js';
import { hasStopHooks } from '../hooks/stop-hooks.js';
import { type CompactionRequest, compactor } from '../turn/compactor.js';
import { modelTurn, type TurnDeps } from '../turn/model-turn.js';
import { retryDelay } from '../turn/retry-delay.js';
import { type AgentActor, agentActor } from './agent-actor.js';
import type { JournaledState } from './journaled-state.js';
import { RunLifecycle } from './run-lifecycle.js';

export interface AgentDeps
  extends Omit<CrewDeps, 'attempt' | 'onDefect' | 'deferredChanges'>,
    Omit<TurnDeps, 'onDefect' | 'deferredChanges'> {
  readonly random: Random;
  readonly limits: AgentLimits;
  /** True if the agent becomes idle after a run instead of stopping. */
  readonly staysIdle: boolean;
  readonly checkpoints?: Checkpoints | undefined;
  /**
   * Number of background children that have not reported yet, for a restarted agent. Default: 0.
   */
  readonly pendingChildren?: number;
  /** Called when the agent becomes idle and when it leaves idle. */
  readonly onIdleChange?: (isIdle: boolean) => void;
  /** Called when the end of a run is recorded and no other run follows immediately. */
  readonly onRunEnd?: (stop: Stop) => void;
  /** Called when a letter arrives for a held agent. */
  readonly onHeldLetter?: () => void;
}

export interface Agent {
  readonly state: AgentState;
  /** True if no run is active or about to start, and the end of the last run has been emitted. */
  readonly isIdle: boolean;
  /**
   * Records a letter and notifies the machine. Ignores a letter id that was received before. Throws
   * StorageError, or UsageError if the agent has stopped.
   */
  submit(from: string, blocks: RawJson, letter?: string, trace?: string): void;
  /**
   * Holds the agent: letters from agents do not start a run until a person writes or `resume` is
   * called.
   */
  hold(): void;
  readonly isHeld: boolean;
  /**
   * Ends the hold and starts a run for waiting letters. Returns false if no letter waits or a run
   * is active.
   */
  resume(): boolean;
  /**
   * Ends the run as soon as possible, with this stop. Default: `interrupted`. If `isLast`, no
   * further run starts, even if letters wait.
   */
  interrupt(stop?: Stop, isLast?: boolean): void;
  /** Stops the agent at once because its journal cannot be written. */
  fail(detail: string): void;
  /** Sets the number of background children that have not reported yet. */
  setPendingChildren(live: number): void;
  /**
   * Compacts the conversation. Resolves with a sentence. Rejects with UsageError if the
   * conversation was not compacted.
   */
  compact(instructions: string): Promise<string>;
  /** Starts a new conversation. Throws UsageError while a run is active. */
  clear(): void;
  /** Stops the actor without any record, as if the process had died. */
  dispose(): void;
  /** Resolves when the agent has stopped. Rejects only for a defect of Skein. */
  readonly stopped: Promise<AgentOutput>;
}

export const startAgent = (deps: AgentDeps): Agent => {
  const { journal, ids, feed, staysIdle } = deps;
  let defect: (error: unknown) => void;
  let requestedCompaction: CompactionRequest | undefined;
  const takeRequest = () => {
    const request = requestedCompaction;
    requestedCompaction = undefined;
    return request;
  };
  const deferredChanges = new DeferredChanges(journal);
  const slotDeps = {
    deferredChanges,
    onDefect: (error: unknown) => defect(error),
    attempt: () => attemptOf(actor.getSnapshot().context),
    ...deps,
  };
  const actor: AgentActor = agentActor(inputOf(deps), {
    crew: crew(slotDeps),
    modelTurn: modelTurn(slotDeps),
    compactor: compactor(slotDeps, takeRequest),
    pause: retryDelay(deps),
  });
  const beginRun = (waiting: number) => actor.send({ type: 'run.begin', waiting });
  const isLead = deps.parent === undefined;
  const runs = new RunLifecycle(journal, feed, beginRun, isLead, deferredChanges);
  /** Releases the edit leases of an idle or stopped agent. */
  const releaseFiles = () => deps.edits?.release(deps.agent);
  let isCutOff = false;
  let isIdle = false;
  let isReported = false;
  /** True if no run may follow the current run. */
  let isOver = false;
  let dismiss: () => void;
  const stopped = new Promise<AgentOutput>((resolve, reject) => {
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
          isReported = false;
          deps.onIdleChange?.(isIdle);
          if (isIdle) releaseFiles();
        }
        if (!isIdle || stop === null) return;
        // A run may end before a listener saw it start.
        const isNews = runs.isRunning || !isReported;
        isReported = true;
        void runs.end(stop, turn, isOver).then((end) => {
          if (isNews && isIdle && runs.isIdle) deps.onRunEnd?.(end);
        });
      },
      error: reject,
      complete() {
        if (isCutOff) return;
        const report = actor.getSnapshot().output as AgentOutput;
        void runs.end(report.stop, report.turns, true).then((stop) => resolve({ ...report, stop }));
      },
    });
  });
  stopped.then(releaseFiles, releaseFiles);
  /** Sends an event unless the agent has stopped. */
  const send = (event: AgentEvent) => {
    if (actor.getSnapshot().status === 'active') actor.send(event);
  };
  const startNextRun = (): boolean => {
    const { waiting } = journal.history;
    if (waiting === 0 || !runs.isIdle || actor.getSnapshot().value !== 'idle') return false;
    runs.begin();
    beginRun(waiting);
    return true;
  };
  if (!staysIdle || hasWork(journal)) runs.begin();
  actor.start();
  return {
    get state() {
      return actor.getSnapshot().value as AgentState;
    },
    get isIdle() {
      return runs.isIdle;
    },
    submit(from, blocks, letterId, trace) {
      const { status, context } = actor.getSnapshot();
      if (status !== 'active') throw new UsageError(AGENT_STOPPED);
      if (journal.hasLetter(letterId)) return;
      const letter = letterId ?? ids('letter');
      journal.record({ type: 'letter.received', letter, from, trace, raw: blocks });
      const wasHeld = runs.isHeld;
      if (wasHeld && from !== 'user') {
        deps.onHeldLetter?.();
        return;
      }
      runs.isHeld = false;
      // The machine has not counted the letters that arrived while the agent was held.
      if (wasHeld && startNextRun()) return;
      const isWindingDown = runs.isRunning && context.stop !== null;
      if (runs.onLetter(isWindingDown)) actor.send({ type: 'prompt.submit' });
    },
    hold() {
      runs.isHeld = true;
    },
    get isHeld() {
      return runs.isHeld;
    },
    resume() {
      runs.isHeld = false;
      return startNextRun();
    },
    interrupt(stop = stops.INTERRUPTED, isLast = false) {
      isOver ||= isLast;
      send({ type: 'agent.interrupt', stop });
    },
    fail: (detail) => send({ type: 'storage.failed', detail }),
    setPendingChildren: (live) => send({ type: 'children.changed', live }),
    async compact(instructions) {
      refuseUnlessIdle(actor, runs);
      return new Promise((resolve, reject) => {
        requestedCompaction = { instructions, resolve, reject };
        actor.send({ type: 'context.compact' });
      });
    },
    clear() {
      refuseUnlessIdle(actor, runs);
      const hadTodos = journal.history.todos.length > 0;
      journal.record({ type: 'prompt.broken', reason: 'clear', section: 'messages' });
      if (hadTodos) feed.emit({ type: 'todos.changed', todos: journal.history.todos });
      deps.promptHead.expire();
    },
    dispose: () => dismiss(),
    stopped,
  };
};

const refuseUnlessIdle = (actor: AgentActor, { isIdle: hasNoRun }: RunLifecycle): void => {
  const { value, status } = actor.getSnapshot();
  if (status !== 'active') throw new UsageError(AGENT_STOPPED);
  if (value === 'idle' && hasNoRun) return;
  throw new UsageError('The agent is running: wait until it is idle, or interrupt it.');
};

const AGENT_STOPPED = 'The agent has stopped; resume its session to continue.';

const hasWork = ({ history }: JournaledState): boolean =>
  history.waiting > 0 || history.calls.size > 0 || history.owesAnswer || history.cutShort;

const attemptOf = ({ turn, attempt }: AgentContext) => ({ turn, attempt });

/** Returns the input with which the machine resumes from the journal. */
const inputOf = (deps: AgentDeps): AgentInput => {
  const { agent, staysIdle, fallbackModel, limits } = deps;
  const { history } = deps.journal;
  return {
    id: agent,
    staysIdle,
    limits,
    hasFallback: fallbackModel !== undefined,
    hasReview: hasStopHooks(deps),
    openCalls: [...history.calls.values()].map(({ id, result }) => {
      return { id, completed: result !== null };
    }),
    waiting: history.waiting,
    pendingChildren: deps.pendingChildren ?? 0,
    owesAnswer: history.owesAnswer,
    cutShort: history.cutShort,
  };
};
