/**
 * An agent's machine with its slots filled. All agents of the process share one machine, since each
 * machine that is provided with slots of its own is built anew, state by state: a third of what the
 * states of a short-lived agent would cost it, and most of their memory.
 */
import {
  type Actor,
  createActor,
  type EventObject,
  fromCallback,
  type NonReducibleUnknown,
} from 'xstate';
import { agentMachine } from '../../machines/agent-machine.js';
import type { Work } from '../../machines/slot.js';
import type {
  AgentInput,
  CrewInput,
  CrewOrder,
  PauseInput,
  RoomNeeded,
  TurnInput,
  TurnOrder,
} from '../../protocol/agent/agent.js';
import { EmptySlotError } from '../../protocol/errors.js';

export interface AgentWork {
  readonly crew: Work<CrewOrder, CrewInput>;
  readonly modelTurn: Work<TurnOrder, TurnInput>;
  readonly compactor: Work<EventObject, RoomNeeded>;
  readonly pause: Work<EventObject, PauseInput>;
}

export type AgentActor = Actor<typeof agentMachine>;

/** Who works for an agent, by the system of which its actor is the root. */
const workOf = new WeakMap<object, AgentWork>();

const filled = <Order extends EventObject, Input extends NonReducibleUnknown>(
  name: string,
  pick: (work: AgentWork) => Work<Order, Input>,
) =>
  fromCallback<Order, Input>((given) => {
    const work = workOf.get(given.system);
    if (work === undefined) throw new EmptySlotError(name);
    return pick(work)(given);
  });

const workingMachine = agentMachine.provide({
  actors: {
    crew: filled('crew', ({ crew }) => crew),
    modelTurn: filled('modelTurn', ({ modelTurn }) => modelTurn),
    compactor: filled('compactor', ({ compactor }) => compactor),
    pause: filled('pause', ({ pause }) => pause),
  },
});

/** Not started yet: nothing works for it until it is. */
export const agentActor = (input: AgentInput, work: AgentWork): AgentActor => {
  const actor = createActor(workingMachine, { input });
  workOf.set(actor.system, work);
  return actor;
};
