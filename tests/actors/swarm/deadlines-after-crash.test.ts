/** Time-outs of agents that crash or whose process dies. */
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
const BACKGROUND = { subagent_type: 'explorer', description: 'A task', run_in_background: true };
const CRASH: Step = { does: 'fail', failure: new TypeError('x is not a function') };
const never = waits(new Promise(() => {}));

const isChild = ({ said }: Conversation): boolean => said.some((text) => text.includes('the work'));

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
        ? [calls('t1', 'Task', task('the work', BACKGROUND))]
        : [says('heard')];
    },
    { swarm: { times: { wallMs: 60 * MINUTE, idleMs: 40 * MINUTE } }, ...options },
  );
};

const ends = ({ items }: SwarmHarness) =>
  items.flatMap((it) => (it.type === 'agent.ended' ? [it.report.stop.reason] : []));

/** Makes a call, then streams without end. */
const lookThenStream = (_: Conversation, request: number): Answer =>
  request === 1 ? [calls('k', 'Look', { name: 'a' })] : [never];

describe('an agent that had run for 50 of 60 minutes when its process died', () => {
  const died = async () => {
    const clock = virtualClock();
    const release = gate();
    const harness = await swarm(lookThenStream, {
      clock,
      effects: {
        a: async () => {
          await release.opened;
          return { content: 'seen' };
        },
      },
      swarm: { times: { wallMs: 60 * MINUTE, idleMs: 55 * MINUTE } },
    });
    await harness.say('begin');
    await allSettled();
    await clock.advance(50 * MINUTE);
    release.open();
    await allSettled();
    await harness.lead.close();
    return harness;
  };

  test('has ten minutes left, regardless of the time without a process', async () => {
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

  test('has the full idle time-out', async () => {
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

describe('a crashed agent', () => {
  test('has only its remaining time after the restart', async () => {
    const release = gate();
    const harness = await swarm(
      (_, request) => (request === 1 ? [waits(release.opened), CRASH] : [never]),
      {},
    );
    await harness.say('begin');
    await allSettled();
    await harness.clock.advance(50 * MINUTE);
    release.open();
    await allSettled();
    await harness.clock.advance(9 * MINUTE);
    expect(ends(harness)).toEqual([]);
    await harness.clock.advance(2 * MINUTE);
    await allSettled();
    expect(ends(harness)).toEqual(['time_limit']);
  });
});

describe('an agent that was stopped by its time-out', () => {
  test('has its full time again when a person resumes it', async () => {
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

describe('a teammate that runs too long', () => {
  test('becomes idle, and its parent gets the stop reason', async () => {
    const harness = await swarmHarness(
      (conversation): Answer => {
        if (isChild(conversation))
          return [says('half'), calls(`k${conversation.turn}`, 'Look', { name: 'a' })];
        const input = {
          ...BACKGROUND,
          run_in_background: undefined,
          name: 'ann',
          team_name: 'ours',
        };
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
    const idleReports = harness.items.flatMap((it) =>
      it.type === 'agent.rested' ? [it.report] : [],
    );
    expect(idleReports).toMatchObject([{ stop: { reason: 'time_limit' }, text: 'half' }]);
    expect([ends(harness), harness.requests.at(-1)?.body.includes('time_limit')]).toEqual([
      [],
      true,
    ]);
    await harness.lead.close();
  });
});
