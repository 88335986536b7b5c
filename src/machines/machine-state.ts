/**
 * The state of a machine that runs without an actor of its own.
 *
 * `send` puts the new state in place and returns the effects; the host performs them in order. So an effect
 * always sees the new state, and an event that it sends is handled at once.
 */
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type ContextFrom,
  type EventFromLogic,
  type InputFrom,
  initialTransition,
  type SnapshotFrom,
  type StateValueFrom,
  transition,
} from 'xstate';

export class MachineState<Machine extends AnyStateMachine, Effect> {
  private readonly machine: Machine;
  private snapshot: SnapshotFrom<Machine>;

  constructor(machine: Machine, input: InputFrom<Machine>) {
    this.machine = machine;
    [this.snapshot] = initialTransition(machine, input);
  }

  get value(): StateValueFrom<Machine> {
    return (this.snapshot as AnyMachineSnapshot).value as StateValueFrom<Machine>;
  }

  get context(): ContextFrom<Machine> {
    return (this.snapshot as AnyMachineSnapshot).context as ContextFrom<Machine>;
  }

  send(event: EventFromLogic<Machine>): readonly Effect[] {
    const [next, effects] = transition(this.machine, this.snapshot, event);
    this.snapshot = next;
    return effects as unknown as readonly Effect[];
  }
}
