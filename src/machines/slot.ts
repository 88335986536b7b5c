/** A typed hole in a machine: src/actors fills it with real work, tests with a script. */
import {
  type CallbackLogicFunction,
  type EventObject,
  fromCallback,
  type NonReducibleUnknown,
} from 'xstate';
import type { AgentEvent } from '../protocol/agent/agent.js';
import { EmptySlotError } from '../protocol/errors.js';

/** What fills a slot; what it returns ends it. */
export type Work<Order extends EventObject, Input> = CallbackLogicFunction<
  Order,
  AgentEvent,
  Input
>;

/** Work that reports on the way: it takes `Order`s and sends facts back to the machine. */
export const slot = <Order extends EventObject, Input extends NonReducibleUnknown>(name: string) =>
  fromCallback<Order, Input>(() => {
    throw new EmptySlotError(name);
  });
