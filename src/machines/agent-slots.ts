/** The slots of the agent machine: src/actors fills them with real work, tests script them. */
import type { EventObject } from 'xstate';
import type {
  CompactionInput,
  CrewInput,
  CrewOrder,
  RetryDelayInput,
  TurnInput,
  TurnOrder,
} from '../protocol/agent/agent-state.js';
import { slot } from './slot.js';

export const agentSlots = {
  /** Judges, asks about and runs calls for the agent's whole life. Runs the Stop hooks at the end of a run. */
  crew: slot<CrewOrder, CrewInput>('crew'),
  modelTurn: slot<TurnOrder, TurnInput>('modelTurn'),
  compactor: slot<EventObject, CompactionInput>('compactor'),
  pause: slot<EventObject, RetryDelayInput>('pause'),
};
