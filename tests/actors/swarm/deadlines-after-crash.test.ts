/** The time that an agent may take, when its process dies or it crashes on the way. */
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  calls,
  gate,
  type Step,
  says,
  waits,
} from '../../fakes/agents/scripted-model.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import type { LeadOptions } from '../session/lead-harness.js';
import {
  allSettled,
  type Conversation,
  type SwarmHarness,
  swarmHarness,
  task,
} from './swarm-harness.js';

const MINUTE = 60_000;
const BEHIND = { subagent_type: 'explorer', description: 'A task', run_in_background: true };
const CRASH: Step = { does: 'fail', failure: new TypeError('x is not a function') };
const never = waits(new Promise(() => {}));

const isChild = ({ said }: Conversation): boolean =>
  said.some((words) => words.includes('the work'));

const swarm = (
  child: (conversation: Conversation, request: number) => Answer,
  options: Partial<Omit<LeadOptions, 'model'>>,
): Promise<SwarmHarness> => {
  let requests = 0;
  return swarmHarness(
    (conversation): Answer => {
      if (isChild(conversation)) {
        requests += 1;
        return child(conversation, requests);
      }
      return conversation.turn === 0
        ? [calls('t1', 'Task', task('the work', BEHIND))]
        : [says('heard')];
    },
    { swarm: { times: { wallMs: 60 * MINUTE, idleMs: 40 * MINUTE } }, ...options },
  );
};

const ends = ({ items }: SwarmHarness) =>
  items.flatMap((it) => (it.type === 'agent.ended' ? [it.report.stop.reason] : []));

/** Looks, and then answers for ever. */
const lookThenStream = (_: Conversation, request: number): Answer =>
  request === 1 ? [calls('k', 'Look', { name: 'a' })] : [never];

describe('an agent that had worked for 50 of 60 minutes when its process died', () => {
  const died = async () => {
    const clock = virtualClock();
    const door = gate();
    const harness = await swarm(lookThenStream, {
      clock,
      effects: {
        a: async () => {
          await door.opened;
          return { content: 'seen' };
        },
      },
      swarm: { times: { wallMs: 60 * MINUTE, idleMs: 55 * MINUTE } },
    });
    await harness.say('begin');
    await allSettled();
    await clock.advance(50 * MINUTE);
    door.open();
    await allSettled();
    await harness.lead.close();
    return harness;
  };

  test('has ten left, however long nobody ran it', async () => {
    const { clock, store, lead } = await died();
    await clock.advance(500 * MINUTE);
    const choice = { kind: 'resume', id: lead.id } as const;
    const next = await swarm(() => [never], { clock, store, choice });
    next.lead.start();
    await allSettled();
    await clock.advance(9 * MINUTE);
    expect(ends(next)).toEqual([]);
    await clock.advance(2 * MINUTE);
    await allSettled();
    expect(ends(next)).toEqual(['time_limit']);
    await next.lead.close();
  });

  test('may be silent for as long as one that has just begun', async () => {
    const { clock, store, lead } = await died();
    const choice = { kind: 'resume', id: lead.id } as const;
    const next = await swarm(() => [calls('l', 'Look', { name: 'b' })], {
      clock,
      store,
      choice,
      effects: {
        b: ({ signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve({ content: 'cut off' }));
          }),
      },
      swarm: { times: { wallMs: 6_000 * MINUTE, idleMs: 10 * MINUTE } },
    });
    next.lead.start();
    await allSettled();
    await clock.advance(9 * MINUTE);
    expect(ends(next)).toEqual([]);
    await clock.advance(2 * MINUTE);
    await allSettled();
    expect(ends(next)).toEqual(['time_limit']);
    await next.lead.close();
  });
});

describe('an agent that crashed on the way', () => {
  test('has the rest of its time', async () => {
    const door = gate();
    const harness = await swarm(
      (_, request) => (request === 1 ? [waits(door.opened), CRASH] : [never]),
      {},
    );
    await harness.say('begin');
    await allSettled();
    await harness.clock.advance(50 * MINUTE);
    door.open();
    await allSettled();
    await harness.clock.advance(9 * MINUTE);
    expect(ends(harness)).toEqual([]);
    await harness.clock.advance(2 * MINUTE);
    await allSettled();
    expect(ends(harness)).toEqual(['time_limit']);
  });
});

describe('an agent that was stopped at its limit', () => {
  test('has all of its time again when a person lets it go on', async () => {
    const harness = await swarm(() => [never], { staysIdle: true });
    await harness.say('begin');
    await allSettled();
    await harness.clock.advance(61 * MINUTE);
    await allSettled();
    expect(ends(harness)).toEqual(['time_limit']);
    const [spawned] = harness.items.flatMap((it) =>
      it.type === 'agent.spawned' ? [it.agent] : [],
    );
    await harness.lead.steer.resume(spawned?.id ?? '');
    await allSettled();
    await harness.clock.advance(59 * MINUTE);
    expect(ends(harness)).toEqual(['time_limit']);
    await harness.clock.advance(2 * MINUTE);
    await allSettled();
    expect(ends(harness)).toEqual(['time_limit', 'time_limit']);
    await harness.lead.close();
  });
});

describe('a teammate that is at work for too long', () => {
  test('rests, and whoever it works for is told', async () => {
    const harness = await swarmHarness(
      (conversation): Answer => {
        if (isChild(conversation))
          return [says('half'), calls(`k${conversation.turn}`, 'Look', { name: 'a' })];
        const input = { ...BEHIND, run_in_background: undefined, name: 'ann', team_name: 'ours' };
        return conversation.turn === 0
          ? [calls('t1', 'Task', task('the work', input))]
          : [says('heard')];
      },
      {
        staysIdle: true,
        effects: {
          a: ({ signal }) =>
            new Promise((resolve) => {
              signal.addEventListener('abort', () => resolve({ content: 'cut off' }));
            }),
        },
      },
    );
    await harness.say('begin');
    await allSettled();
    await harness.clock.advance(11 * MINUTE);
    await allSettled();
    const rested = harness.items.flatMap((it) => (it.type === 'agent.rested' ? [it.report] : []));
    expect(rested).toMatchObject([{ stop: { reason: 'time_limit' }, text: 'half' }]);
    expect([ends(harness), harness.requests.at(-1)?.body.includes('time_limit')]).toEqual([
      [],
      true,
    ]);
    await harness.lead.close();
  });
});
