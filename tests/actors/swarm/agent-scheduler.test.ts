import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentScheduler, type Candidate } from '../../../src/actors/swarm/agent-scheduler.js';

const schedulerOf = (slots: number, { maxAgents = 1_000, maxDepth = 5 } = {}) => {
  const scheduler = new AgentScheduler({ maxConcurrentAgents: slots, maxAgents, maxDepth });
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

describe('agents that need a slot', () => {
  test('start while a slot is free, and then queue in order of arrival', () => {
    const { scheduler, started, admit } = schedulerOf(2);
    const verdicts = ['a', 'b', 'c', 'd', 'e'].map((id) => admit(id));
    expect(verdicts).toEqual(['started', 'started', 'queued', 'queued', 'queued']);
    scheduler.leave('b');
    scheduler.leave('a');
    expect(started).toEqual(['a', 'b', 'c', 'd']);
  });

  test('get a slot that was released without a waiting agent', () => {
    const { scheduler, admit } = schedulerOf(1);
    admit('a');
    scheduler.leave('a');
    expect([admit('b'), admit('c')]).toEqual(['started', 'queued']);
  });

  test('are not started if they leave the queue', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    for (const id of ['a', 'b', 'c']) admit(id);
    scheduler.leave('b');
    scheduler.leave('a');
    expect(started).toEqual(['a', 'c']);
    scheduler.leave('c');
    expect(admit('d')).toBe('started');
  });

  test('release their slot once, and an unknown agent releases none', () => {
    const { scheduler, admit } = schedulerOf(1);
    admit('a');
    for (const id of ['a', 'a', 'stranger']) scheduler.leave(id);
    expect([admit('b'), admit('c')]).toEqual(['started', 'queued']);
  });

  test('may admit others or leave while they start', () => {
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
  test('lends its slot to the child', () => {
    const { started, admit } = schedulerOf(1);
    admit('a');
    expect(admit('a1', { lender: 'a', depth: 2 })).toBe('started');
    expect(admit('a11', { lender: 'a1', depth: 3 })).toBe('started');
    expect(started).toEqual(['a', 'a1', 'a11']);
  });

  test('lends its slot to a single child at a time, and to its next child before earlier agents', () => {
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

  test('can lend the slot again after the child has left', () => {
    const { scheduler, admit } = schedulerOf(1);
    admit('a');
    for (const id of ['a1', 'a2']) {
      expect(admit(id, { lender: 'a' })).toBe('started');
      scheduler.leave(id);
    }
  });

  test('does not lend the slot to a refused child', () => {
    const { admit } = schedulerOf(1, { maxDepth: 2 });
    admit('a');
    expect(admit('a1', { lender: 'a', depth: 3 })).toEqual({ refused: 'depth' });
    expect(admit('a2', { lender: 'a', depth: 2 })).toBe('started');
  });

  test('leaves the slot to the child if it leaves first', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    admit('a');
    admit('a1', { lender: 'a' });
    admit('b');
    scheduler.leave('a');
    expect(started).toEqual(['a', 'a1']);
    scheduler.leave('a1');
    expect(started).toEqual(['a', 'a1', 'b']);
  });

  test('leaves a borrowed slot to the child if it leaves first', () => {
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

  test('has no slot to lend if it does not run', () => {
    const { admit } = schedulerOf(1);
    admit('a');
    expect(admit('x', { lender: 'lead' })).toBe('queued');
  });
});

describe('an idle agent that waits for others', () => {
  test('lends its slot to the first agent in the queue', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    for (const id of ['a', 'b', 'c']) admit(id);
    scheduler.lendSlot('a');
    expect(started).toEqual(['a', 'b']);
    scheduler.leave('b');
    expect(started).toEqual(['a', 'b', 'c']);
  });

  test('resumes at once, and no queued agent starts until a slot is free', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    for (const id of ['a', 'b', 'c']) admit(id);
    scheduler.lendSlot('a');
    scheduler.retakeSlot('a');
    scheduler.leave('b');
    expect(started).toEqual(['a', 'b']);
    scheduler.leave('a');
    expect(started).toEqual(['a', 'b', 'c']);
  });

  test('lends a borrowed slot to any agent, and the slot returns to its lender at its end', () => {
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

  test('lends the slot that its child returns', () => {
    const { scheduler, started, admit } = schedulerOf(1);
    admit('a');
    admit('a1', { lender: 'a' });
    scheduler.lendSlot('a');
    admit('b');
    scheduler.leave('a1');
    expect(started).toEqual(['a', 'a1', 'b']);
  });

  test('lends its slot to the child that it waits for once it has retaken it', () => {
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

  test('releases no slot at its end if it has lent it', () => {
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
  test('beyond the maximum depth', () => {
    const { admit, started } = schedulerOf(5, { maxDepth: 2 });
    expect(admit('a', { depth: 2 })).toBe('started');
    expect(admit('b', { depth: 3 })).toEqual({ refused: 'depth' });
    expect(started).toEqual(['a']);
  });

  test('beyond the maximum number of agents of a run, queued and ended agents included', () => {
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

  test('if a limit is zero', () => {
    expect(schedulerOf(1, { maxAgents: 0 }).admit('a')).toEqual({ refused: 'total' });
    expect(schedulerOf(1, { maxDepth: 0 }).admit('a')).toEqual({ refused: 'depth' });
    expect(schedulerOf(0).admit('a')).toEqual({ refused: 'none' });
    expect(schedulerOf(0).admit('a', { isNew: false })).toEqual({ refused: 'none' });
  });

  test('no longer after a new run has started', () => {
    const { scheduler, admit } = schedulerOf(5, { maxAgents: 1 });
    admit('a');
    scheduler.beginRun();
    expect([admit('b'), admit('c')]).toEqual(['started', { refused: 'total' }]);
  });

  test('not when it is restarted, because it was counted before', () => {
    const { scheduler, admit } = schedulerOf(5, { maxAgents: 1 });
    admit('a');
    scheduler.leave('a');
    expect(admit('a', { isNew: false })).toBe('started');
  });

  test('after the swarm is closed, and no queued agent starts', () => {
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
  /** Children that it waits for. */
  readonly awaits: Set<Model>;
  /** Background children. */
  readonly background: Set<Model>;
  /** True while it waits for the report of a background child. */
  isIdle: boolean;
  state: 'queued' | 'live' | 'gone';
}

/** Model of a swarm whose agents spawn and await others, become idle, end and are stopped. */
const swarmOf = (slots: number) => {
  const { scheduler } = schedulerOf(slots);
  const all: Model[] = [];
  const inState = (state: Model['state']) => all.filter((agent) => agent.state === state);
  const working = () =>
    inState('live').filter(({ awaits, isIdle }) => awaits.size === 0 && !isIdle);
  const spawn = (parent: Model | undefined, isAwaited: boolean) => {
    const child: Model = {
      id: `a_${all.length}`,
      parent,
      awaits: new Set(),
      background: new Set(),
      isIdle: false,
      state: 'queued',
    };
    all.push(child);
    if (isAwaited) parent?.awaits.add(child);
    else parent?.background.add(child);
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
  const becomeIdle = (agent: Model) => {
    agent.isIdle = true;
    scheduler.lendSlot(agent.id);
  };
  const wake = (agent: Model) => {
    if (agent.isIdle) scheduler.retakeSlot(agent.id);
    agent.isIdle = false;
  };
  const leave = (agent: Model) => {
    const { parent } = agent;
    agent.state = 'gone';
    if (parent?.awaits.delete(agent)) scheduler.retakeSlot(parent.id);
    // The report wakes an idle parent.
    if (parent?.background.delete(agent)) wake(parent);
    scheduler.leave(agent.id);
  };
  const stop = (agent: Model) => {
    for (const child of [...agent.awaits, ...agent.background]) stop(child);
    leave(agent);
  };
  /** An agent with background children becomes idle until they have ended. */
  const end = (agent: Model) => (agent.background.size > 0 ? becomeIdle(agent) : leave(agent));
  return { all, inState, working, spawn, wake, leave, stop, end };
};

const pick = <Item>(items: readonly Item[], by: number): Item | undefined =>
  items[by % Math.max(1, items.length)];

type Swarm = ReturnType<typeof swarmOf>;
type Actions = Record<string, (swarm: Swarm, by: number) => void>;

const actions: Actions = {
  'the lead spawns an agent': ({ spawn }) => spawn(undefined, false),
  'an agent spawns a background child': ({ spawn, working }, by) =>
    spawn(pick(working(), by), false),
  'an agent waits for three children': ({ spawn, working }, by) => {
    const parent = pick(working(), by);
    for (let count = 0; count < 3; count += 1) spawn(parent, parent !== undefined);
  },
  'an agent ends or becomes idle': ({ end, working }, by) => {
    const agent = pick(working(), by);
    if (agent !== undefined) end(agent);
  },
};

/** Actions of people. They may wake an agent whose slot is taken. */
const interventions: Actions = {
  'a queued agent is withdrawn': ({ leave, inState }, by) => {
    const agent = pick(inState('queued'), by);
    if (agent !== undefined) leave(agent);
  },
  'an agent is stopped with its subtree': ({ stop, inState }, by) => {
    const agent = pick(inState('live'), by);
    if (agent !== undefined) stop(agent);
  },
  'an idle agent gets a letter': ({ wake, inState }, by) => {
    const agent = pick(inState('live'), by);
    if (agent !== undefined) wake(agent);
  },
};

const allActions: Actions = { ...actions, ...interventions };

/** Random number of slots and random actions. */
const scenarios = (known: Actions) =>
  [
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.record({ action: fc.constantFrom(...Object.keys(known)), by: fc.nat(50) }), {
      maxLength: 60,
    }),
  ] as const;

describe('for random actions', () => {
  test('of agents, no more agents run than slots exist', () => {
    fc.assert(
      fc.property(...scenarios(actions), (slots, all) => {
        const swarm = swarmOf(slots);
        for (const { action, by } of all) {
          actions[action]?.(swarm, by);
          expect(swarm.working().length).toBeLessThanOrEqual(slots);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('of agents and people, an agent runs while another agent is queued', () => {
    fc.assert(
      fc.property(...scenarios(allActions), (slots, all) => {
        const swarm = swarmOf(slots);
        for (const { action, by } of all) {
          allActions[action]?.(swarm, by);
          const isStuck = swarm.inState('queued').length > 0 && swarm.working().length === 0;
          expect(isStuck).toBe(false);
        }
      }),
      { numRuns: 600 },
    );
  });

  test('of agents and people, every agent ends and every slot is released', () => {
    fc.assert(
      fc.property(...scenarios(allActions), (slots, all) => {
        const swarm = swarmOf(slots);
        for (const { action, by } of all) allActions[action]?.(swarm, by);
        for (let agent = swarm.working()[0]; agent; [agent] = swarm.working()) swarm.end(agent);
        expect(swarm.all.every(({ state }) => state === 'gone')).toBe(true);
        for (let count = 0; count <= slots; count += 1) swarm.spawn(undefined, false);
        expect(swarm.inState('live')).toHaveLength(slots);
      }),
      { numRuns: 300 },
    );
  });
});
