/**
 * The state of a machine that runs without an actor of its own.
 *
 * `send` puts the new state in place and returns the effects; the host performs them in order. So an effect
 * always sees the new state, and an event that it sends is handled at once.
 */
import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type ContextFrom,
  createActor,
  type EventFromLogic,
  type InputFrom,
  type SnapshotFrom,
  type StateValueFrom,
} from 'xstate';

export class MachineState<Machine extends AnyStateMachine, Effect> {
  private readonly machine: Machine;
  private snapshot: SnapshotFrom<Machine>;

  constructor(machine: Machine, input: InputFrom<Machine>) {
    this.machine = machine;
    this.snapshot = machine.getInitialSnapshot(
      scopeFor(machine, input, []),
      input,
    ) as SnapshotFrom<Machine>;
  }

  get value(): StateValueFrom<Machine> {
    return (this.snapshot as AnyMachineSnapshot).value as StateValueFrom<Machine>;
  }

  get context(): ContextFrom<Machine> {
    return (this.snapshot as AnyMachineSnapshot).context as ContextFrom<Machine>;
  }

  send(event: EventFromLogic<Machine>): readonly Effect[] {
    const effects: unknown[] = [];
    const scope = scopeFor(this.machine, undefined, effects);
    this.snapshot = this.machine.transition(
      this.snapshot as AnyMachineSnapshot,
      event,
      scope,
    ) as SnapshotFrom<Machine>;
    return effects as readonly Effect[];
  }
}

const scopes = new WeakMap<AnyStateMachine, AnyActorScope>();

/**
 * Returns the scope in which a machine computes its next state. It collects the effects and runs none of them.
 * One scope serves all states of a machine: the `transition` function of XState builds an actor for each event,
 * which takes longer than the transition itself.
 */
const scopeFor = (machine: AnyStateMachine, input: unknown, effects: unknown[]): AnyActorScope => {
  let scope = scopes.get(machine);
  if (scope === undefined) {
    const self = createActor(machine, { input: input as never });
    const ignore = () => {};
    scope = {
      self,
      id: '',
      sessionId: '',
      system: self.system,
      logger: ignore,
      defer: ignore,
      emit: ignore,
      stopChild: ignore,
      actionExecutor: ignore,
    } as AnyActorScope;
    scopes.set(machine, scope);
  }
  scope.actionExecutor = (effect) => void effects.push(effect);
  return scope;
};
