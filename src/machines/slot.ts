/** A typed hole in a machine: src/actors fills it with real work, tests with a script. */
import {
  type CallbackLogicFunction,
  type EventObject,
  fromCallback,
  type NonReducibleUnknown,
} from 'xstate';
import type { AgentEvent } from '../protocol/agent/agent-state.js';
import { EmptySlotError } from '../protocol/skein-error.js';

/** Work that fills a slot. Returns a function that ends the work. */
export type SlotWork<Order extends EventObject, Input> = CallbackLogicFunction<
  Order,
  AgentEvent,
  Input
>;

/** Returns an empty slot. The work that fills it receives `Order`s and sends events to the machine. */
export const slot = <Order extends EventObject, Input extends NonReducibleUnknown>(name: string) =>
  fromCallback<Order, Input>(() => {
    throw new EmptySlotError(name);
  });
