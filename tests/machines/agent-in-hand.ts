/** An agent whose slots do nothing but take notes: the test plays the model, the crew and the rest. */
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

export interface AgentInHand {
  readonly actor: Actor<typeof agentMachine>;
  /** Each state that the agent rested in, in order; a state it stayed in counts once. */
  readonly visited: readonly string[];
  readonly state: string;
  /** Everything the crew was told, as `type id`. */
  readonly orders: readonly string[];
  readonly crews: readonly CrewInput[];
  readonly turns: readonly TurnInput[];
  /** How often a turn was told to give up. */
  readonly cancelled: number;
  readonly rooms: readonly CompactionInput[];
  readonly pauses: readonly RetryDelayInput[];
  tell(...events: AgentEvent[]): void;
  /** Status of each call by its id. */
  calls(): Record<string, string>;
  stopReason(): string | undefined;
}

export type HandInput = Omit<Partial<AgentInput>, 'limits'> & { limits?: Partial<AgentLimits> };

export const agentInHand = ({ limits, ...input }: HandInput = {}): AgentInHand => {
  const visited: string[] = [];
  const orders: string[] = [];
  const crews: CrewInput[] = [];
  const turns: TurnInput[] = [];
  const rooms: CompactionInput[] = [];
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
          ({ input: room }: { input: CompactionInput }) => void rooms.push(room),
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
    rooms,
    pauses,
    get state() {
      return String(actor.getSnapshot().value);
    },
    get cancelled() {
      return cancelled;
    },
    tell(...events) {
      for (const event of events) actor.send(event);
    },
    calls: () =>
      Object.fromEntries(
        [...actor.getSnapshot().context.calls].map(({ id, status }) => [id, status]),
      ),
    stopReason: () => actor.getSnapshot().context.stop?.reason,
  };
};

/** What a slot says. */
export const taken = (count = 1): AgentEvent => ({ type: 'letters.taken', count });
export const drafted = (id: string): AgentEvent => ({ type: 'call.drafted', id });
export const ended = (stopReason = 'end_turn'): AgentEvent => ({ type: 'turn.ended', stopReason });
export const callEnded = (id: string, failed = false): AgentEvent => ({
  type: 'call.ended',
  id,
  failed,
});
export const interrupt: AgentEvent = {
  type: 'agent.interrupt',
  stop: { reason: 'interrupted', detail: null },
};
export const prompt: AgentEvent = { type: 'prompt.submit' };
export const pauseOver: AgentEvent = { type: 'pause.over' };

type Class = 'reads' | 'reads alone' | 'writes' | 'writes beside others' | 'waits';

const classOf = (kind: Class) => ({
  readOnly: kind.startsWith('reads'),
  safe: kind === 'reads' || kind === 'writes beside others' || kind === 'waits',
  onlyWaits: kind === 'waits',
});

export const ruled = (id: string, kind: Class = 'reads'): AgentEvent => ({
  type: 'call.ruled',
  id,
  ...classOf(kind),
});

export const asking = (id: string, kind: Class = 'writes'): AgentEvent => ({
  type: 'call.asking',
  id,
  ...classOf(kind),
});

export const failed = (
  kind: Extract<AgentEvent, { type: 'turn.failed' }>['kind'],
  detail: { retryAfterMs?: number; gapTokens?: number } = {},
): AgentEvent => ({
  type: 'turn.failed',
  kind,
  message: `It was ${kind}.`,
  retryAfterMs: detail.retryAfterMs ?? null,
  gapTokens: detail.gapTokens ?? null,
});
