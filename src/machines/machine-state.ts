/**
 * The state of a machine that runs without an actor of its own.
 *
 * `send` puts the new state in place and returns the effects; the host performs them in order. So an effect
 * always sees the new state, and an event that it sends is handled at once.
 */
import type {
  AnyStateMachine,
  ContextFrom,
  EventFromLogic,
  EventObject,
  InputFrom,
  StateValueFrom,
} from 'xstate';
import { type TableEffect, type TableState, TransitionTable } from './transition-table.js';

export class MachineState<Machine extends AnyStateMachine, Effect> {
  private readonly table: TransitionTable;
  private state: TableState;

  constructor(machine: Machine, input: InputFrom<Machine>) {
    this.table = tableOf(machine);
    this.state = this.table.initial(input, []);
  }

  get value(): StateValueFrom<Machine> {
    return this.state.value as StateValueFrom<Machine>;
  }

  get context(): ContextFrom<Machine> {
    return this.state.context as ContextFrom<Machine>;
  }

  send(event: EventFromLogic<Machine>): readonly Effect[] {
    const effects: TableEffect[] = [];
    this.state = this.table.next(this.state, event as EventObject, effects);
    return effects as readonly unknown[] as readonly Effect[];
  }
}

const tables = new WeakMap<AnyStateMachine, TransitionTable>();

const tableOf = (machine: AnyStateMachine): TransitionTable => {
  const table = tables.get(machine) ?? new TransitionTable(machine);
  tables.set(machine, table);
  return table;
};
