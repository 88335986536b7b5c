/** The work that an agent needs done: src/actors fills these, tests script them. */
import type { EventObject } from 'xstate';
import type {
  CrewInput,
  CrewOrder,
  PauseInput,
  RoomNeeded,
  TurnInput,
  TurnOrder,
} from '../protocol/agent/agent.js';
import { slot } from './slot.js';

export const agentSlots = {
  /** Judges, asks about and runs calls for the agent's whole life; lets a run's end be reviewed. */
  crew: slot<CrewOrder, CrewInput>('crew'),
  modelTurn: slot<TurnOrder, TurnInput>('modelTurn'),
  compactor: slot<EventObject, RoomNeeded>('compactor'),
  pause: slot<EventObject, PauseInput>('pause'),
};
