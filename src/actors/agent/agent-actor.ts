/**
 * Actor of an agent: the agent machine with its slots filled. All agents of a process share one
 * machine, because providing slots rebuilds every state: that took a third of the time and most of
 * the memory of a short-lived agent.
 */
import {
  type Actor,
  createActor,
  type EventObject,
  fromCallback,
  type NonReducibleUnknown,
} from 'xstate';
import { agentMachine } from '../../machines/agent-machine.js';
import type { SlotWork } from '../../machines/slot.js';
import type {
  AgentInput,
  CompactionInput,
  CrewInput,
  CrewOrder,
  RetryDelayInput,
  TurnInput,
  TurnOrder,
} from '../../protocol/agent/agent-state.js';
import { EmptySlotError } from '../../protocol/skein-error.js';

interface AgentSlots {
  readonly crew: SlotWork<CrewOrder, CrewInput>;
  readonly modelTurn: SlotWork<TurnOrder, TurnInput>;
  readonly compactor: SlotWork<EventObject, CompactionInput>;
  readonly pause: SlotWork<EventObject, RetryDelayInput>;
}

export type AgentActor = Actor<typeof agentMachine>;

/** Slot implementations of an agent, by the actor system of its root actor. */
const slotsOf = new WeakMap<object, AgentSlots>();

const slotOf = <Order extends EventObject, Input extends NonReducibleUnknown>(
  name: string,
  pick: (slots: AgentSlots) => SlotWork<Order, Input>,
) =>
  fromCallback<Order, Input>((args) => {
    const slots = slotsOf.get(args.system);
    if (slots === undefined) throw new EmptySlotError(name);
    return pick(slots)(args);
  });

const filledMachine = agentMachine.provide({
  actors: {
    crew: slotOf('crew', ({ crew }) => crew),
    modelTurn: slotOf('modelTurn', ({ modelTurn }) => modelTurn),
    compactor: slotOf('compactor', ({ compactor }) => compactor),
    pause: slotOf('pause', ({ pause }) => pause),
  },
});

/** Creates the actor of an agent. The caller starts it. */
export const agentActor = (input: AgentInput, slots: AgentSlots): AgentActor => {
  const actor = createActor(filledMachine, { input });
  slotsOf.set(actor.system, slots);
  return actor;
};
