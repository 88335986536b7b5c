/**
 * The agent machine: the states of an agent, from its first request to its stop.
 *
 *   waking ──▶ tool-running           a call executes, or can start
 *     ▲   ├──▶ awaiting-permission    every open call waits for an answer
 *     │   ├──▶ idle | stopped         the run has ended
 *     │   ├──▶ retrying ───┐          the attempt failed, and the failure may pass
 *     │   ├──▶ compacting ─┤          the prompt does not fit
 *     │   └──▶ streaming ◀─┘          the model has to answer
 *     └── every working state ends here, and a rebuilt agent starts here
 *
 * Two shortcuts for the transitions of every turn: a turn whose calls run goes to tool-running directly, and
 * the last result of a turn is yielded on the way to waking.
 *
 * Pure: actors/agent/agent-actor.ts fills the four slots. The crew runs calls for the agent's whole life, so
 * tools run while the model still streams. A failure of the world ends in `stopped` with a reason; only a
 * defect of Skein puts the actor in error.
 */
import { and, assign, enqueueActions, not, or, sendTo, setup } from 'xstate';
import type {
  AgentEvent,
  AgentInput,
  AgentOutput,
  CallClass,
  TurnFailed,
} from '../protocol/agent/agent-state.js';
import type { Stop } from '../protocol/agent/stop.js';
import { type AgentContext, FRESH_RUN, freshContext } from './agent-context.js';
import { agentSlots } from './agent-slots.js';
import { CallBoard, isDone } from './call-board.js';
import { stops } from './stops.js';
import { turnOutcome } from './turn-outcome.js';

export const agentMachine = setup({
  types: {} as {
    input: AgentInput;
    context: AgentContext;
    events: AgentEvent;
    output: AgentOutput;
  },
  actors: agentSlots,
  guards: {
    hasResults: ({ context }) => context.calls.hasResults,
    isBusy: ({ context: { calls, stop, review } }) =>
      calls.isBusy(stop !== null) || (review === 'running' && stop === null),
    isAtWork: ({ context }) => context.calls.isAtWork,
    isLastCall: ({ context }, { id }: { id: string }) => context.calls.isLast(id),
    isAsking: ({ context }) => context.calls.isAsking,
    isStopping: ({ context }) => context.stop !== null,
    mayBecomeIdle: ({ context: { stop, staysIdle } }) =>
      stop !== null && staysIdle && !stops.FINAL.includes(stop.reason),
    hasFailedAttempt: ({ context }) => context.failure !== null,
    keepsFailing: ({ context }) => context.refusedTurns >= context.limits.maxRefusedTurns,
    hasNothingToDo: ({ context }) =>
      !context.owesAnswer && !context.cutShort && context.waiting === 0,
    isOutOfTurns: ({ context: { turn, limits } }) =>
      limits.maxTurns !== null && turn >= limits.maxTurns,
    needsRoom: ({ context }) => context.needsRoom !== null,
    isReviewDue: ({ context }) => context.hasReview && context.review === 'none',
    hasLettersAfterStop: ({ context }) => context.stop !== null && context.waiting > 0,
    /** True if background children have still to report, which continues the run. */
    hasPendingChildren: ({ context }) => !context.staysIdle && context.pendingChildren > 0,
    staysIdle: ({ context }) => context.staysIdle,
  },
  actions: {
    countLetter: assign({ waiting: ({ context }) => context.waiting + 1 }),
    findLetters: assign({ waiting: (_, { waiting }: { waiting: number }) => waiting }),
    takeLetters: assign({
      waiting: ({ context }, { count }: { count: number }) => context.waiting - count,
      owesAnswer: true,
      cutShort: false,
    }),
    beginRun: assign(FRESH_RUN),
    beginTurn: assign({
      attempt: 1,
      isStreaming: true,
      review: 'none',
      calls: () => new CallBoard(),
      turn: ({ context }) => context.turn + 1,
    }),
    beginAttempt: assign({
      failure: null,
      isStreaming: true,
      attempt: ({ context }) => context.attempt + 1,
    }),
    endTurn: assign(({ context }, { stopReason }: { stopReason: string }) =>
      turnOutcome.afterTurn(context, stopReason),
    ),
    failTurn: assign(({ context }, failed: TurnFailed) =>
      turnOutcome.afterFailure(context, failed),
    ),
    needRoom: assign(({ context }, { gapTokens }: { gapTokens: number }) =>
      turnOutcome.beforeTurn(context, gapTokens),
    ),
    makeRoomNow: assign({ needsRoom: { why: 'asked', gapTokens: null } }),
    takeRoom: assign({ needsRoom: null }),
    forgetDeclines: assign({ declines: 0 }),
    countDecline: assign(({ context }) => turnOutcome.afterDecline(context)),
    beginReview: assign({ review: 'running' }),
    endReview: assign(({ context }, { sentBack }: { sentBack: boolean }) =>
      turnOutcome.afterReview(context, sentBack),
    ),
    countChildren: assign({ pendingChildren: (_, { live }: { live: number }) => live }),
    takeTurnBack: assign({ turn: ({ context }) => context.turn - 1 }),
    stopBecause: assign({ stop: ({ context }, stop: Stop) => context.stop ?? stop }),
    stopAfterAll: assign({ stop: (_, stop: Stop) => stop }),
    // The board changes in place, because an `assign` would copy the rest of the context.
    draftCall: ({ context }, { id }: { id: string }) => void context.calls.draft(id),
    queueCall: ({ context }, call: CallClass) => void context.calls.queue(call),
    askAboutCall: ({ context }, call: CallClass) => void context.calls.ask(call),
    completeCall: ({ context }, { id, refused }: { id: string; refused: boolean }) =>
      void context.calls.complete(id, refused),
    startReadyCalls: enqueueActions(({ context: { calls, stop, isStreaming }, enqueue }) => {
      if (stop !== null) return;
      for (const id of calls.start(isStreaming)) enqueue.sendTo('crew', { type: 'call.start', id });
    }),
    interruptIfStopping: enqueueActions(({ context, enqueue }) => {
      if (context.stop !== null) enqueue.sendTo('crew', { type: 'calls.interrupt' });
    }),
    yieldResults: assign({
      calls: ({ context }) => context.calls.yieldAll(),
      refusedTurns: ({ context }) => (context.calls.allRefused ? context.refusedTurns + 1 : 0),
      owesAnswer: true,
    }),
    judgeCall: sendTo('crew', (_, { id }: { id: string }) => ({ type: 'call.judge', id }) as const),
    reviewRun: sendTo('crew', ({ context: { sentBack, limits } }) => {
      return { type: 'run.review', sentBack, isLast: sentBack >= limits.maxSentBack } as const;
    }),
    showResults: sendTo('crew', { type: 'calls.yield' }),
    discardCalls: sendTo('crew', { type: 'calls.discard' }),
    interruptCrew: sendTo('crew', { type: 'calls.interrupt' }),
    cancelTurn: sendTo('turn', { type: 'turn.cancel' }),
  },
}).createMachine({
  id: 'agent',
  context: ({ input }) => freshContext(input),
  output: ({ context }) => ({ stop: context.stop ?? stops.ENDED, turns: context.turn }),
  invoke: {
    id: 'crew',
    src: 'crew',
    input: ({ context }) => ({
      unjudged: [...context.calls].flatMap((call) => (isDone(call) ? [] : [call.id])),
    }),
  },
  on: {
    'prompt.submit': { actions: 'countLetter' },
    'call.ruled': {
      actions: [{ type: 'queueCall', params: ({ event }) => event }, 'startReadyCalls'],
    },
    'call.asking': {
      actions: [{ type: 'askAboutCall', params: ({ event }) => event }, 'startReadyCalls'],
    },
    'call.ended': {
      actions: [{ type: 'completeCall', params: ({ event }) => event }, 'startReadyCalls'],
    },
    'agent.interrupt': {
      target: '.waking',
      actions: [{ type: 'stopBecause', params: ({ event }) => event.stop }, 'interruptCrew'],
    },
    'children.changed': { actions: { type: 'countChildren', params: ({ event }) => event } },
    'run.reviewed': { actions: { type: 'endReview', params: ({ event }) => event } },
    'storage.failed': {
      target: '.stopped',
      actions: { type: 'stopAfterAll', params: ({ event }) => stops.storageFailed(event.detail) },
    },
  },
  initial: 'waking',
  states: {
    waking: {
      always: [
        { guard: 'hasResults', actions: ['yieldResults', 'showResults'] },
        { guard: 'isBusy', target: 'tool-running' },
        { guard: 'isAsking', target: 'awaiting-permission' },
        { guard: 'mayBecomeIdle', target: 'idle' },
        { guard: 'isStopping', target: 'stopped' },
        { guard: and(['hasFailedAttempt', 'needsRoom']), target: 'compacting' },
        { guard: 'hasFailedAttempt', target: 'retrying' },
        { guard: 'keepsFailing', actions: { type: 'stopBecause', params: stops.KEEPS_FAILING } },
        { guard: and(['hasNothingToDo', 'hasPendingChildren']), target: 'idle' },
        {
          guard: and(['hasNothingToDo', 'isReviewDue']),
          actions: ['beginReview', 'reviewRun'],
          target: 'tool-running',
        },
        { guard: and(['hasNothingToDo', 'staysIdle']), actions: turnOutcome.END_OF_RUN },
        { guard: 'hasNothingToDo', target: 'stopped', actions: turnOutcome.END_OF_RUN },
        { guard: 'isOutOfTurns', actions: { type: 'stopBecause', params: stops.OUT_OF_TURNS } },
        { guard: 'needsRoom', target: 'compacting' },
        { target: 'streaming', actions: 'beginTurn' },
      ],
    },
    idle: {
      always: { guard: not(or(['staysIdle', 'hasPendingChildren'])), target: 'waking' },
      on: {
        'prompt.submit': [
          { guard: 'hasPendingChildren', target: 'waking', actions: 'countLetter' },
          { target: 'waking', actions: ['beginRun', 'countLetter'] },
        ],
        'run.begin': {
          target: 'waking',
          actions: ['beginRun', { type: 'findLetters', params: ({ event }) => event }],
        },
        'context.compact': { target: 'compacting', actions: 'makeRoomNow' },
        'agent.interrupt': [
          { guard: 'staysIdle' },
          { target: 'waking', actions: { type: 'stopBecause', params: ({ event }) => event.stop } },
        ],
      },
    },
    streaming: {
      invoke: {
        id: 'turn',
        src: 'modelTurn',
        input: ({ context }) => {
          const { turn, attempt, onFallback, cutShort, refusedTurns } = context;
          return {
            turn,
            attempt,
            onFallback,
            cutShort,
            refusedTurns,
            mayCompact: turnOutcome.mayCompact(context),
          };
        },
      },
      on: {
        'letters.taken': { actions: { type: 'takeLetters', params: ({ event }) => event } },
        'call.drafted': {
          actions: [
            { type: 'draftCall', params: ({ event }) => event },
            { type: 'judgeCall', params: ({ event }) => event },
          ],
        },
        'turn.ended': [
          { guard: 'isAtWork', target: 'tool-running', actions: [...turnOutcome.END_OF_TURN] },
          { target: 'waking', actions: [...turnOutcome.END_OF_TURN] },
        ],
        'turn.failed': {
          target: 'waking',
          actions: [{ type: 'failTurn', params: ({ event }) => event }, 'discardCalls'],
        },
        'room.needed': {
          target: 'waking',
          actions: { type: 'needRoom', params: ({ event }) => event },
        },
        'turn.refused': {
          target: 'waking',
          actions: ['takeTurnBack', { type: 'stopBecause', params: ({ event }) => event.stop }],
        },
        // The turn keeps the blocks received so far and then reports its end.
        'agent.interrupt': {
          actions: [{ type: 'stopBecause', params: ({ event }) => event.stop }, 'cancelTurn'],
        },
      },
    },
    'tool-running': {
      always: { guard: not('isBusy'), target: 'waking' },
      on: {
        'call.ended': {
          guard: { type: 'isLastCall', params: ({ event }) => event },
          target: 'waking',
          actions: [
            { type: 'completeCall', params: ({ event }) => event },
            'yieldResults',
            'showResults',
          ],
        },
      },
    },
    'awaiting-permission': {
      always: { guard: or([not('isAsking'), 'isBusy']), target: 'waking' },
    },
    compacting: {
      invoke: {
        src: 'compactor',
        input: ({ context }) => context.needsRoom ?? { why: 'refused', gapTokens: null },
      },
      exit: 'takeRoom',
      on: {
        'agent.interrupt': { guard: 'hasLettersAfterStop', target: 'waking', actions: 'beginRun' },
        'context.compacted': [
          { guard: 'hasFailedAttempt', target: 'streaming', actions: 'beginAttempt' },
          {
            guard: 'hasLettersAfterStop',
            target: 'waking',
            actions: ['forgetDeclines', 'beginRun'],
          },
          { target: 'waking', actions: 'forgetDeclines' },
        ],
        'compaction.declined': [
          { guard: 'hasLettersAfterStop', target: 'waking', actions: 'beginRun' },
          { guard: 'isStopping', target: 'waking' },
          { target: 'waking', actions: 'countDecline' },
        ],
        'compaction.failed': {
          target: 'waking',
          actions: {
            type: 'stopBecause',
            params: ({ event }) => stops.compactionFailed(event.detail),
          },
        },
      },
    },
    retrying: {
      invoke: {
        src: 'pause',
        input: ({ context }) => {
          const { retries, failure } = context;
          const { message: reason = '', retryAfterMs = null } = failure ?? {};
          const maxRetries = turnOutcome.maxRetriesAfter(context, failure);
          return { reason, retries, maxRetries, retryAfterMs };
        },
      },
      on: { 'pause.over': { target: 'streaming', actions: 'beginAttempt' } },
    },
    stopped: { type: 'final' },
  },
});
