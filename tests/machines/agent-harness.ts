/** Runs the agent machine with slots that only record their input. The test sends all other events. */
import { type Actor, createActor, fromCallback } from 'xstate';
import { agentMachine } from '../../src/machines/agent-machine.js';
import { type AgentLimits, DEFAULT_LIMITS } from '../../src/protocol/agent/agent-limits.js';
import type {
  AgentEvent,
  AgentInput,
  CompactionInput,
  CrewInput,
  CrewOrder,
  RetryDelayInput,
  TurnInput,
  TurnOrder,
} from '../../src/protocol/agent/agent-state.js';

export interface AgentHarness {
  readonly actor: Actor<typeof agentMachine>;
  /** States that the agent was in, in order, without repetitions in a row. */
  readonly visited: readonly string[];
  readonly state: string;
  /** Orders to the crew, as `type id`. */
  readonly orders: readonly string[];
  readonly crews: readonly CrewInput[];
  readonly turns: readonly TurnInput[];
  /** Number of cancel orders to model turns. */
  readonly cancelled: number;
  readonly compactions: readonly CompactionInput[];
  readonly pauses: readonly RetryDelayInput[];
  send(...events: AgentEvent[]): void;
  /** Status of each call by its id. */
  calls(): Record<string, string>;
  stopReason(): string | undefined;
}

export type HarnessInput = Omit<Partial<AgentInput>, 'limits'> & { limits?: Partial<AgentLimits> };

export const agentHarness = ({ limits, ...input }: HarnessInput = {}): AgentHarness => {
  const visited: string[] = [];
  const orders: string[] = [];
  const crews: CrewInput[] = [];
  const turns: TurnInput[] = [];
  const compactions: CompactionInput[] = [];
  const pauses: RetryDelayInput[] = [];
  let cancelled = 0;
  const actor = createActor(
    agentMachine.provide({
      actors: {
        crew: fromCallback<CrewOrder, CrewInput>(({ input: crew, receive }) => {
          crews.push(crew);
          receive((order) => orders.push('id' in order ? `${order.type} ${order.id}` : order.type));
        }),
        modelTurn: fromCallback<TurnOrder, TurnInput>(({ input: turn, receive }) => {
          turns.push(turn);
          receive(() => {
            cancelled += 1;
          });
        }),
        compactor: fromCallback(
          ({ input: compaction }: { input: CompactionInput }) => void compactions.push(compaction),
        ),
        pause: fromCallback(
          ({ input: pause }: { input: RetryDelayInput }) => void pauses.push(pause),
        ),
      },
    }),
    {
      input: {
        id: 'a_1',
        staysIdle: false,
        hasFallback: false,
        hasReview: false,
        openCalls: [],
        waiting: 1,
        pendingChildren: 0,
        owesAnswer: false,
        cutShort: false,
        ...input,
        limits: { ...DEFAULT_LIMITS, ...limits },
      },
    },
  );
  actor.subscribe({
    next: ({ value }) => {
      if (visited.at(-1) !== value) visited.push(String(value));
    },
    error: () => {},
  });
  actor.start();
  return {
    actor,
    visited,
    orders,
    crews,
    turns,
    compactions,
    pauses,
    get state() {
      return String(actor.getSnapshot().value);
    },
    get cancelled() {
      return cancelled;
    },
    send(...events) {
      for (const event of events) actor.send(event);
    },
    calls: () =>
      Object.fromEntries(
        [...actor.getSnapshot().context.calls].map(({ id, status }) => [id, status]),
      ),
    stopReason: () => actor.getSnapshot().context.stop?.reason,
  };
};

/** Events that the slots send. */
export const taken = (count = 1): AgentEvent => ({ type: 'letters.taken', count });
export const drafted = (id: string): AgentEvent => ({ type: 'call.drafted', id });
export const ended = (stopReason = 'end_turn'): AgentEvent => ({ type: 'turn.ended', stopReason });
export const callEnded = (id: string, refused = false): AgentEvent => ({
  type: 'call.ended',
  id,
  refused,
});
export const interrupt: AgentEvent = {
  type: 'agent.interrupt',
  stop: { reason: 'interrupted', detail: null },
};
export const prompt: AgentEvent = { type: 'prompt.submit' };
export const pauseOver: AgentEvent = { type: 'pause.over' };

type CallKind = 'reads' | 'reads alone' | 'writes' | 'writes beside others' | 'waits';

const classOf = (kind: CallKind) => ({
  readOnly: kind.startsWith('reads'),
  safe: kind === 'reads' || kind === 'writes beside others' || kind === 'waits',
  onlyWaits: kind === 'waits',
});

export const ruled = (id: string, kind: CallKind = 'reads'): AgentEvent => ({
  type: 'call.ruled',
  id,
  ...classOf(kind),
});

export const asking = (id: string, kind: CallKind = 'writes'): AgentEvent => ({
  type: 'call.asking',
  id,
  ...classOf(kind),
});

export const failed = (
  kind: Extract<AgentEvent, { type: 'turn.failed' }>['kind'],
  detail: { retryAfterMs?: number; gapTokens?: number; isPermanent?: boolean } = {},
): AgentEvent => ({
  type: 'turn.failed',
  kind,
  message: `It was ${kind}.`,
  retryAfterMs: detail.retryAfterMs ?? null,
  gapTokens: detail.gapTokens ?? null,
  isPermanent: detail.isPermanent ?? false,
});
