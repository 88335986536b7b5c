import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentScheduler, type Candidate } from '../../../src/actors/swarm/agent-scheduler.js';

const schedulerOf = (places: number, { maxAgents = 1_000, maxDepth = 5 } = {}) => {
  const scheduler = new AgentScheduler({ maxConcurrentAgents: places, maxAgents, maxDepth });
  const started: string[] = [];
  const admit = (id: string, change: Partial<Candidate> = {}) =>
    scheduler.admit({
      id,
      depth: 1,
      lender: undefined,
      isNew: true,
      start: () => void started.push(id),
      ...change,
    });
  return { scheduler, started, admit };
};

describe('agents that want a place', () => {
  test('start while there is one, and then wait in the order in which they came', () => {
    const { scheduler, started, admit } = schedulerOf(2);
    const verdicts = ['a', 'b', 'c', 'd', 'e'].map((id) => admit(id));
    expect(verdicts).toEqual(['started', 'started', 'queued', 'queued', 'queued']);
    scheduler.leave('b');
    scheduler.leave('a');
    expect(started).toEqual(['a', 'b', 'c', 'd']);
  });

  test('find it free again when nobody had waited for it', () => {
    const { scheduler, admit } = schedulerOf(1);
    admit('a');
    scheduler.leave('a');
    expect([admit('b'), admit('c')]).toEqual(['started', 'queued']);
  });

  test('and leave while they wait are not started', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    for (const id of ['a', 'b', 'c']) admit(id);
    scheduler.leave('b');
    scheduler.leave('a');
    expect(started).toEqual(['a', 'c']);
    scheduler.leave('c');
    expect(admit('d')).toBe('started');
  });

  test('give one place back, however often they leave, and none that they never had', () => {
    const { scheduler, admit } = schedulerOf(1);
    admit('a');
    for (const id of ['a', 'a', 'stranger']) scheduler.leave(id);
    expect([admit('b'), admit('c')]).toEqual(['started', 'queued']);
  });

  test('may ask for others, or leave, as they start', () => {
    const { scheduler, started, admit } = schedulerOf(2);
    const inner: unknown[] = [];
    const start = () => {
      started.push('a');
      inner.push(admit('b'), admit('c'));
      scheduler.leave('a');
    };
    expect(admit('a', { start })).toBe('started');
    expect(inner).toEqual(['started', 'queued']);
    expect(started).toEqual(['a', 'b', 'c']);
  });
});

describe('an agent that waits for its child', () => {
  test('lends it its place', () => {
    const { started, admit } = schedulerOf(1);
    admit('a');
    expect(admit('a1', { lender: 'a', depth: 2 })).toBe('started');
    expect(admit('a11', { lender: 'a1', depth: 3 })).toBe('started');
    expect(started).toEqual(['a', 'a1', 'a11']);
  });

  test('lends it to one at a time, and to the next of its own before all who came earlier', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    admit('a');
    admit('b');
    const verdicts = ['a1', 'a2', 'a3'].map((id) => admit(id, { lender: 'a' }));
    expect(verdicts).toEqual(['started', 'queued', 'queued']);
    scheduler.leave('a1');
    scheduler.leave('a2');
    expect(started).toEqual(['a', 'a1', 'a2', 'a3']);
    scheduler.leave('a3');
    expect(started).not.toContain('b');
    scheduler.leave('a');
    expect(started.at(-1)).toBe('b');
  });

  test('can lend it again when it has it back', () => {
    const { scheduler, admit } = schedulerOf(1);
    admit('a');
    for (const id of ['a1', 'a2']) {
      expect(admit(id, { lender: 'a' })).toBe('started');
      scheduler.leave(id);
    }
  });

  test('has nothing lent when the child is refused', () => {
    const { admit } = schedulerOf(1, { maxDepth: 2 });
    admit('a');
    expect(admit('a1', { lender: 'a', depth: 3 })).toEqual({ refused: 'depth' });
    expect(admit('a2', { lender: 'a', depth: 2 })).toBe('started');
  });

  test('leaves the place to the child when it goes first', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    admit('a');
    admit('a1', { lender: 'a' });
    admit('b');
    scheduler.leave('a');
    expect(started).toEqual(['a', 'a1']);
    scheduler.leave('a1');
    expect(started).toEqual(['a', 'a1', 'b']);
  });

  test('leaves a place that it had borrowed itself to the child in the same way', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    admit('a');
    admit('a1', { lender: 'a' });
    admit('a11', { lender: 'a1' });
    admit('b');
    admit('a2', { lender: 'a' });
    scheduler.leave('a1');
    expect(started).toEqual(['a', 'a1', 'a11']);
    scheduler.leave('a11');
    scheduler.leave('a2');
    expect(started).toEqual(['a', 'a1', 'a11', 'a2']);
  });

  test('has none to lend when it is not at work', () => {
    const { admit } = schedulerOf(1);
    admit('a');
    expect(admit('x', { lender: 'lead' })).toBe('queued');
  });
});

describe('an agent that rests until others have ended', () => {
  test('leaves its place to whoever has waited longest', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    for (const id of ['a', 'b', 'c']) admit(id);
    scheduler.lendSlot('a');
    expect(started).toEqual(['a', 'b']);
    scheduler.leave('b');
    expect(started).toEqual(['a', 'b', 'c']);
  });

  test('goes on at once when it is woken, and nobody begins until there is a place again', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    for (const id of ['a', 'b', 'c']) admit(id);
    scheduler.lendSlot('a');
    scheduler.retakeSlot('a');
    scheduler.leave('b');
    expect(started).toEqual(['a', 'b']);
    scheduler.leave('a');
    expect(started).toEqual(['a', 'b', 'c']);
  });

  test('leaves a place that it had borrowed to anybody, and its lender has it back at its end', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    admit('a');
    admit('a1', { lender: 'a' });
    admit('b');
    scheduler.lendSlot('a1');
    expect(started).toEqual(['a', 'a1', 'b']);
    scheduler.leave('b');
    scheduler.retakeSlot('a1');
    scheduler.leave('a1');
    expect([admit('c'), admit('a2', { lender: 'a' })]).toEqual(['queued', 'started']);
  });

  test('leaves the place that it gets back as well, while it rests for another reason', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    admit('a');
    admit('a1', { lender: 'a' });
    scheduler.lendSlot('a');
    admit('b');
    scheduler.leave('a1');
    expect(started).toEqual(['a', 'a1', 'b']);
  });

  test('lends its place to a child that it waits for as soon as it is woken', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    admit('a');
    for (let times = 0; times < 2; times += 1) scheduler.lendSlot('a');
    admit('b');
    expect(admit('a1', { lender: 'a' })).toBe('queued');
    scheduler.retakeSlot('a');
    expect(started).toEqual(['a', 'b']);
    scheduler.retakeSlot('a');
    expect(started).toEqual(['a', 'b', 'a1']);
  });

  test('gives nothing back at its end that it did not have', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    for (const id of ['a', 'b', 'c']) admit(id);
    scheduler.lendSlot('a');
    scheduler.leave('a');
    scheduler.retakeSlot('a');
    expect(started).toEqual(['a', 'b']);
    scheduler.leave('b');
    expect(started).toEqual(['a', 'b', 'c']);
  });
});

describe('an agent is refused', () => {
  test('when it is too deep', () => {
    const { admit, started } = schedulerOf(5, { maxDepth: 2 });
    expect(admit('a', { depth: 2 })).toBe('started');
    expect(admit('b', { depth: 3 })).toEqual({ refused: 'depth' });
    expect(started).toEqual(['a']);
  });

  test('when the run has had as many as it may, those that wait or have ended included', () => {
    const { scheduler, admit } = schedulerOf(1, { maxAgents: 2 });
    expect([admit('a'), admit('b'), admit('c')]).toEqual([
      'started',
      'queued',
      { refused: 'total' },
    ]);
    scheduler.leave('a');
    scheduler.leave('b');
    expect(admit('d')).toEqual({ refused: 'total' });
  });

  test('when none is allowed at all', () => {
    expect(schedulerOf(1, { maxAgents: 0 }).admit('a')).toEqual({ refused: 'total' });
    expect(schedulerOf(1, { maxDepth: 0 }).admit('a')).toEqual({ refused: 'depth' });
    expect(schedulerOf(0).admit('a')).toEqual({ refused: 'none' });
    expect(schedulerOf(0).admit('a', { isNew: false })).toEqual({ refused: 'none' });
  });

  test('no longer when a new run begins', () => {
    const { scheduler, admit } = schedulerOf(5, { maxAgents: 1 });
    admit('a');
    scheduler.beginRun();
    expect([admit('b'), admit('c')]).toEqual(['started', { refused: 'total' }]);
  });

  test('not for being taken up again: it was counted when it began', () => {
    const { scheduler, admit } = schedulerOf(5, { maxAgents: 1 });
    admit('a');
    scheduler.leave('a');
    expect(admit('a', { isNew: false })).toBe('started');
  });

  test('when the swarm is over, and nobody who waited starts', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    admit('a');
    for (const id of ['a1', 'a2']) admit(id, { lender: 'a' });
    admit('b');
    scheduler.close();
    scheduler.leave('a1');
    scheduler.leave('a');
    expect(admit('c')).toEqual({ refused: 'over' });
    expect(started).toEqual(['a', 'a1']);
  });
});

interface Model {
  readonly id: string;
  readonly parent: Model | undefined;
  /** The children that it waits for. */
  readonly awaits: Set<Model>;
  /** Those that work beside it. */
  readonly behind: Set<Model>;
  /** It has said all that it can until one of those reports. */
  isResting: boolean;
  state: 'queued' | 'live' | 'gone';
}

/** A swarm whose agents do what the numbers say: begin others, await them, rest, end, and are stopped. */
const swarmOf = (places: number) => {
  const { scheduler } = schedulerOf(places);
  const all: Model[] = [];
  const those = (state: Model['state']) => all.filter((agent) => agent.state === state);
  const working = () =>
    those('live').filter(({ awaits, isResting }) => awaits.size === 0 && !isResting);
  const spawn = (parent: Model | undefined, isAwaited: boolean) => {
    const child: Model = {
      id: `a_${all.length}`,
      parent,
      awaits: new Set(),
      behind: new Set(),
      isResting: false,
      state: 'queued',
    };
    all.push(child);
    if (isAwaited) parent?.awaits.add(child);
    else parent?.behind.add(child);
    scheduler.admit({
      id: child.id,
      depth: 1,
      lender: isAwaited ? parent?.id : undefined,
      isNew: true,
      start: () => {
        expect(child.state).toBe('queued');
        child.state = 'live';
      },
    });
    if (isAwaited && parent !== undefined) scheduler.lendSlot(parent.id);
  };
  const rest = (agent: Model) => {
    agent.isResting = true;
    scheduler.lendSlot(agent.id);
  };
  const wake = (agent: Model) => {
    if (agent.isResting) scheduler.retakeSlot(agent.id);
    agent.isResting = false;
  };
  const leave = (agent: Model) => {
    const { parent } = agent;
    agent.state = 'gone';
    if (parent?.awaits.delete(agent)) scheduler.retakeSlot(parent.id);
    // Its report wakes whoever rests.
    if (parent?.behind.delete(agent)) wake(parent);
    scheduler.leave(agent.id);
  };
  const stop = (agent: Model) => {
    for (const child of [...agent.awaits, ...agent.behind]) stop(child);
    leave(agent);
  };
  /** One that has agents beside it rests until they have ended. */
  const end = (agent: Model) => (agent.behind.size > 0 ? rest(agent) : leave(agent));
  return { all, those, working, spawn, wake, leave, stop, end };
};

const pick = <Item>(items: readonly Item[], by: number): Item | undefined =>
  items[by % Math.max(1, items.length)];

type Swarm = ReturnType<typeof swarmOf>;
type Deeds = Record<string, (swarm: Swarm, by: number) => void>;

const deeds: Deeds = {
  'the lead begins one': ({ spawn }) => spawn(undefined, false),
  'one begins another': ({ spawn, working }, by) => spawn(pick(working(), by), false),
  'one waits for three': ({ spawn, working }, by) => {
    const parent = pick(working(), by);
    for (let count = 0; count < 3; count += 1) spawn(parent, parent !== undefined);
  },
  'one ends, or rests': ({ end, working }, by) => {
    const agent = pick(working(), by);
    if (agent !== undefined) end(agent);
  },
};

/** What people do: it may wake somebody whose place is taken. */
const interventions: Deeds = {
  'one that waits for a place is withdrawn': ({ leave, those }, by) => {
    const agent = pick(those('queued'), by);
    if (agent !== undefined) leave(agent);
  },
  'one is stopped with all below it': ({ stop, those }, by) => {
    const agent = pick(those('live'), by);
    if (agent !== undefined) stop(agent);
  },
  'one that rests is told something': ({ wake, those }, by) => {
    const agent = pick(those('live'), by);
    if (agent !== undefined) wake(agent);
  },
};

const allDeeds: Deeds = { ...deeds, ...interventions };

/** Any number of places, and what happens. */
const whatever = (known: Deeds) =>
  [
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.record({ what: fc.constantFrom(...Object.keys(known)), by: fc.nat(50) }), {
      maxLength: 60,
    }),
  ] as const;

describe('whatever agents do', () => {
  test('no more are at work than there are places', () => {
    fc.assert(
      fc.property(...whatever(deeds), (places, all) => {
        const swarm = swarmOf(places);
        for (const { what, by } of all) {
          deeds[what]?.(swarm, by);
          expect(swarm.working().length).toBeLessThanOrEqual(places);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('while one waits for a place another works, whatever people do', () => {
    fc.assert(
      fc.property(...whatever(allDeeds), (places, all) => {
        const swarm = swarmOf(places);
        for (const { what, by } of all) {
          allDeeds[what]?.(swarm, by);
          const isStuck = swarm.those('queued').length > 0 && swarm.working().length === 0;
          expect(isStuck).toBe(false);
        }
      }),
      { numRuns: 600 },
    );
  });

  test('nobody is forgotten, and every place comes back', () => {
    fc.assert(
      fc.property(...whatever(allDeeds), (places, all) => {
        const swarm = swarmOf(places);
        for (const { what, by } of all) allDeeds[what]?.(swarm, by);
        for (let agent = swarm.working()[0]; agent; [agent] = swarm.working()) swarm.end(agent);
        expect(swarm.all.every(({ state }) => state === 'gone')).toBe(true);
        for (let count = 0; count <= places; count += 1) swarm.spawn(undefined, false);
        expect(swarm.those('live')).toHaveLength(places);
      }),
      { numRuns: 300 },
    );
  });
});
