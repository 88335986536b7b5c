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
import type { LeadOptions } from '../session/lead-in-hand.js';
import { allSettled, type SwarmInHand, swarmInHand, type Talk, task } from './swarm-in-hand.js';

const MINUTE = 60_000;
const BEHIND = { subagent_type: 'explorer', description: 'A task', run_in_background: true };
const CRASH: Step = { does: 'fail', failure: new TypeError('x is not a function') };
const never = waits(new Promise(() => {}));

const isChild = ({ said }: Talk): boolean => said.some((words) => words.includes('the work'));

const swarm = (
  child: (talk: Talk, request: number) => Answer,
  options: Partial<Omit<LeadOptions, 'model'>>,
): Promise<SwarmInHand> => {
  let requests = 0;
  return swarmInHand(
    (talk): Answer => {
      if (isChild(talk)) {
        requests += 1;
        return child(talk, requests);
      }
      return talk.turn === 0 ? [calls('t1', 'Task', task('the work', BEHIND))] : [says('heard')];
    },
    { swarm: { times: { wallMs: 60 * MINUTE, idleMs: 40 * MINUTE } }, ...options },
  );
};

const ends = ({ items }: SwarmInHand) =>
  items.flatMap((it) => (it.type === 'agent.ended' ? [it.report.stop.reason] : []));

/** Looks, and then answers for ever. */
const lookThenStream = (_: Talk, request: number): Answer =>
  request === 1 ? [calls('k', 'Look', { name: 'a' })] : [never];

describe('an agent that had worked for 50 of 60 minutes when its process died', () => {
  const died = async () => {
    const clock = virtualClock();
    const door = gate();
    const hand = await swarm(lookThenStream, {
      clock,
      deeds: {
        a: async () => {
          await door.opened;
          return { content: 'seen' };
        },
      },
      swarm: { times: { wallMs: 60 * MINUTE, idleMs: 55 * MINUTE } },
    });
    await hand.say('begin');
    await allSettled();
    await clock.advance(50 * MINUTE);
    door.open();
    await allSettled();
    await hand.lead.close();
    return hand;
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
      deeds: {
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
    const hand = await swarm(
      (_, request) => (request === 1 ? [waits(door.opened), CRASH] : [never]),
      {},
    );
    await hand.say('begin');
    await allSettled();
    await hand.clock.advance(50 * MINUTE);
    door.open();
    await allSettled();
    await hand.clock.advance(9 * MINUTE);
    expect(ends(hand)).toEqual([]);
    await hand.clock.advance(2 * MINUTE);
    await allSettled();
    expect(ends(hand)).toEqual(['time_limit']);
  });
});

describe('an agent that was stopped at its limit', () => {
  test('has all of its time again when a person lets it go on', async () => {
    const hand = await swarm(() => [never], { lingers: true });
    await hand.say('begin');
    await allSettled();
    await hand.clock.advance(61 * MINUTE);
    await allSettled();
    expect(ends(hand)).toEqual(['time_limit']);
    const [spawned] = hand.items.flatMap((it) => (it.type === 'agent.spawned' ? [it.agent] : []));
    await hand.lead.steer.resume(spawned?.id ?? '');
    await allSettled();
    await hand.clock.advance(59 * MINUTE);
    expect(ends(hand)).toEqual(['time_limit']);
    await hand.clock.advance(2 * MINUTE);
    await allSettled();
    expect(ends(hand)).toEqual(['time_limit', 'time_limit']);
    await hand.lead.close();
  });
});

describe('a teammate that is at work for too long', () => {
  test('rests, and whoever it works for is told', async () => {
    const hand = await swarmInHand(
      (talk): Answer => {
        if (isChild(talk)) return [says('half'), calls(`k${talk.turn}`, 'Look', { name: 'a' })];
        const input = { ...BEHIND, run_in_background: undefined, name: 'ann', team_name: 'ours' };
        return talk.turn === 0 ? [calls('t1', 'Task', task('the work', input))] : [says('heard')];
      },
      {
        lingers: true,
        deeds: {
          a: ({ signal }) =>
            new Promise((resolve) => {
              signal.addEventListener('abort', () => resolve({ content: 'cut off' }));
            }),
        },
      },
    );
    await hand.say('begin');
    await allSettled();
    await hand.clock.advance(11 * MINUTE);
    await allSettled();
    const rested = hand.items.flatMap((it) => (it.type === 'agent.rested' ? [it.report] : []));
    expect(rested).toMatchObject([{ stop: { reason: 'time_limit' }, text: 'half' }]);
    expect([ends(hand), hand.requests.at(-1)?.body.includes('time_limit')]).toEqual([[], true]);
    await hand.lead.close();
  });
});
