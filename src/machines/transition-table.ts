/**
 * Transitions of a flat XState machine, prepared once for all its states.
 *
 * XState selects transitions for nested and parallel states, resolves names and copies snapshots for every
 * event; for a flat machine this takes many times longer than the transition itself. The table supports the
 * part of XState that the constructor accepts, with the results of XState.
 */
import type { AnyStateMachine, EventObject } from 'xstate';

export interface TableState {
  readonly value: string;
  readonly context: unknown;
}

/** An action for the host of the machine. */
export interface TableEffect {
  readonly type: string;
  readonly params: unknown;
}

interface Args {
  readonly context: unknown;
  readonly event: EventObject;
}

/** Returns the next context, and adds effects. */
type Step = (args: Args, effects: TableEffect[]) => unknown;

interface Transition {
  /** Undefined if the machine keeps its state. */
  readonly target: string | undefined;
  readonly isAllowed: (args: Args) => boolean;
  readonly steps: readonly Step[];
}

interface StateRow {
  readonly on: ReadonlyMap<string, readonly Transition[]>;
  readonly always: readonly Transition[];
  readonly entry: readonly Step[];
  readonly exit: readonly Step[];
}

export class TransitionTable {
  private readonly machine: AnyStateMachine;
  private readonly start: string;
  private readonly rows: ReadonlyMap<string, StateRow>;

  /** Throws if the machine uses a part of XState that the table does not support. */
  constructor(machine: AnyStateMachine) {
    this.machine = machine;
    const { root } = machine;
    this.start = root.initial.target[0]?.key ?? '';
    refuse(root, root.entry.length > 0 || root.exit.length > 0, 'entry or exit actions');
    refuse(root, root.always !== undefined, 'eventless transitions');
    this.rows = new Map(Object.values(root.states).map((node) => [node.key, rowOf(node)]));
  }

  initial(input: unknown, effects: TableEffect[]): TableState {
    const { context } = this.machine.config;
    const event = { type: 'xstate.init', input };
    const first = typeof context === 'function' ? context({ input } as never) : context;
    const entered = run(this.row(this.start).entry, first, event, effects);
    return this.settle({ value: this.start, context: entered }, event, effects);
  }

  /** An event without a transition changes nothing. */
  next(state: TableState, event: EventObject, effects: TableEffect[]): TableState {
    const transition = findAllowed(this.row(state.value).on.get(event.type), state.context, event);
    if (transition === undefined) return state;
    return this.settle(this.take(transition, state, event, effects), event, effects);
  }

  /** Takes eventless transitions until none is allowed. */
  private settle(state: TableState, event: EventObject, effects: TableEffect[]): TableState {
    let settled = state;
    for (;;) {
      const transition = findAllowed(this.row(settled.value).always, settled.context, event);
      if (transition === undefined) return settled;
      settled = this.take(transition, settled, event, effects);
    }
  }

  private take(
    { target, steps }: Transition,
    { value, context }: TableState,
    event: EventObject,
    effects: TableEffect[],
  ): TableState {
    if (target === undefined) return { value, context: run(steps, context, event, effects) };
    const left = run(this.row(value).exit, context, event, effects);
    const moved = run(steps, left, event, effects);
    return { value: target, context: run(this.row(target).entry, moved, event, effects) };
  }

  private row(value: string): StateRow {
    const row = this.rows.get(value);
    if (row === undefined) throw new Error(`The machine has no state "${value}".`);
    return row;
  }
}

const run = (
  steps: readonly Step[],
  context: unknown,
  event: EventObject,
  effects: TableEffect[],
): unknown => {
  let current = context;
  for (const step of steps) current = step({ context: current, event }, effects);
  return current;
};

const findAllowed = (
  transitions: readonly Transition[] | undefined,
  context: unknown,
  event: EventObject,
): Transition | undefined => {
  if (transitions === undefined || transitions.length === 0) return undefined;
  const args = { context, event };
  return transitions.find(({ isAllowed }) => isAllowed(args));
};

type Node = AnyStateMachine['root'];
type Definition = NonNullable<Node['always']>[number];

const refuse = (node: Node, isUsed: boolean, part: string): void => {
  if (isUsed) throw new Error(`"${node.id}" has ${part}, which a transition table cannot run.`);
};

const rowOf = (node: Node): StateRow => {
  refuse(node, node.type !== 'atomic', `states inside it or the type "${node.type}"`);
  refuse(node, node.invoke.length > 0 || node.after.length > 0, 'actors or delays');
  return {
    on: transitionsOf(node),
    always: (node.always ?? []).map((definition) => transitionOf(node, definition)),
    entry: node.entry.map((action) => stepOf(node, action)),
    exit: node.exit.map((action) => stepOf(node, action)),
  };
};

/** Transitions of a state come before transitions that the machine has in every state. */
const transitionsOf = (node: Node): ReadonlyMap<string, readonly Transition[]> => {
  const { root } = node.machine;
  const events = new Set([...node.transitions.keys(), ...root.transitions.keys()]);
  const definitionsOf = (event: string): readonly Definition[] => {
    refuse(node, event.includes('*'), 'a wildcard');
    return [...(node.transitions.get(event) ?? []), ...(root.transitions.get(event) ?? [])];
  };
  return new Map(
    [...events].map((event) => [
      event,
      definitionsOf(event).map((definition) => transitionOf(node, definition)),
    ]),
  );
};

const transitionOf = (node: Node, { target, source, reenter, guard, actions }: Definition) => {
  const [state] = target ?? [];
  const staysInside = state === source && !reenter;
  return {
    target: staysInside ? undefined : state?.key,
    isAllowed: guardOf(node, guard),
    steps: actions.map((action) => stepOf(node, action)),
  };
};

type Params = ((args: Args) => unknown) | undefined;

/** A guard or an action by its name, or with params, which may be computed from the context and the event. */
type Named = string | { readonly type: string; readonly params?: unknown };

const paramsOf = (named: Named): Params => {
  if (typeof named === 'string' || named.params === undefined) return undefined;
  const { params } = named;
  return typeof params === 'function' ? (args) => params(args) : () => params;
};

const guardOf = (node: Node, guard: unknown): Transition['isAllowed'] => {
  if (guard === undefined) return () => true;
  refuse(node, typeof guard === 'function', 'a guard without a name');
  const named = guard as Named;
  const check: unknown = node.machine.implementations.guards[nameOf(named)];
  if (typeof check !== 'function' || 'check' in check) {
    throw new Error(`"${node.id}" has no plain guard "${nameOf(named)}".`);
  }
  const params = paramsOf(named);
  return (args) => check(args, params?.(args)) === true;
};

const nameOf = (named: Named): string => (typeof named === 'string' ? named : named.type);

interface BuiltIn {
  readonly type?: string;
  readonly resolve?: unknown;
  readonly assignment?: unknown;
  readonly collect?: (args: unknown, params: unknown) => void;
}

const stepOf = (node: Node, action: unknown): Step => {
  if (typeof action === 'function') return builtInStep(node, action as BuiltIn, undefined);
  const named = action as Named;
  const type = nameOf(named);
  const implementation: unknown = node.machine.implementations.actions[type];
  const params = paramsOf(named);
  if (typeof implementation === 'function' && 'resolve' in implementation) {
    return builtInStep(node, implementation as BuiltIn, params);
  }
  return (args, effects) => {
    effects.push({ type, params: params?.(args) });
    return args.context;
  };
};

const builtInStep = (node: Node, action: BuiltIn, params: Params): Step => {
  const { assignment, collect } = action;
  if (assignment !== undefined) {
    return (args) => ({ ...(args.context as object), ...assigned(assignment, args, params) });
  }
  if (collect === undefined) {
    throw new Error(
      `"${node.id}" has the action "${action.type}", which a transition table cannot run.`,
    );
  }
  return (args, effects) => {
    const steps: Step[] = [];
    const enqueue = Object.assign((queued: unknown) => void steps.push(stepOf(node, queued)), {
      assign: (change: unknown) =>
        void steps.push(builtInStep(node, { assignment: change }, undefined)),
    });
    collect({ ...args, enqueue }, params?.(args));
    return run(steps, args.context, args.event, effects);
  };
};

/** `assignment` is a function, or an object of values and functions. */
const assigned = (assignment: unknown, args: Args, params: Params): object => {
  const paramValues = params?.(args);
  if (typeof assignment === 'function') return assignment(args, paramValues) as object;
  const update: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(assignment as object)) {
    update[key] = typeof value === 'function' ? value(args, paramValues) : value;
  }
  return update;
};
