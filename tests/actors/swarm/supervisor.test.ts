/** Agents that crash because of a defect of the program. */
import { describe, expect, test } from 'vitest';
import type { Journal } from '../../../src/protocol/session/journal.js';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import type { OwnedSession } from '../../../src/protocol/session/owned-session.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { fakeCheckpoints } from '../../fakes/agents/fake-checkpoints.js';
import type { Answer, Step } from '../../fakes/agents/scripted-model.js';
import { calls, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import type { LeadOptions } from '../session/lead-harness.js';
import {
  allSettled,
  type Conversation,
  type SwarmHarness,
  swarmHarness,
  task,
} from './swarm-harness.js';

/** Failure that only a defect of the program causes. */
const CRASH: Step = { does: 'fail', failure: new TypeError('x is not a function') };

const BACKGROUND = { subagent_type: 'explorer', description: 'A task', run_in_background: true };

type Options = Partial<Omit<LeadOptions, 'model'>>;

/** Lead that starts an agent and answers `heard` to all other messages. */
const swarmOf = async (
  input: Record<string, unknown>,
  child: (conversation: Conversation, request: number) => Answer,
  options: Options = {},
): Promise<SwarmHarness> => {
  let requests = 0;
  const harness = await swarmHarness((conversation): Answer => {
    if (conversation.said.some((text) => text.includes('the work'))) {
      requests += 1;
      return child(conversation, requests);
    }
    return conversation.last.includes('begin') && conversation.turn === 0
      ? [calls('t1', 'Task', task('the work', input))]
      : [says('heard')];
  }, options);
  await harness.say('begin');
  await allSettled();
  return harness;
};

const childOf = ({ items }: SwarmHarness): string => {
  const spawned = items.find((it) => it.type === 'agent.spawned');
  return spawned?.type === 'agent.spawned' ? spawned.agent.id : '';
};

const recordsOf = async (harness: SwarmHarness): Promise<readonly JournalRecord[]> =>
  (await harness.store.readJournal(harness.lead.id, childOf(harness))).records;

const restarts = async (harness: SwarmHarness) =>
  (await recordsOf(harness)).flatMap((it) =>
    it.type === 'agent.restarted' ? [[it.attempt, it.delayMs]] : [],
  );

const ends = ({ items }: SwarmHarness) =>
  items.flatMap((it) => (it.type === 'agent.ended' ? [it.report] : []));

/** Answers with a text and a call, then crashes. */
const crashing = ({ last }: Conversation): Answer =>
  last.includes('did a')
    ? [CRASH]
    : [says('Half of it is done.'), calls('k', 'Look', { name: 'a' })];

const WHY = 'The agent failed unexpectedly: x is not a function';

describe('a crashed agent that its parent waits for', () => {
  test.each([
    ['sync', { subagent_type: 'explorer', description: 'A task' }],
    ['fork', { description: 'A task' }],
  ])('is not restarted, and its last text is reported: %s', async (_, input) => {
    const harness = await swarmOf(input, crashing);
    expect(ends(harness)).toMatchObject([
      { stop: { reason: 'model_error', detail: WHY }, text: 'Half of it is done.' },
    ]);
    expect(await restarts(harness)).toEqual([]);
    expect((await recordsOf(harness)).at(-1)).toMatchObject({ type: 'run.ended', final: true });
    const lastBody = harness.requests.at(-1)?.body ?? '';
    expect(lastBody).toContain('x is not a function');
    expect(lastBody).toContain('Half of it is done.');
    expect(harness.clock.sleepers).toBe(0);
  });
});

describe('a crashed background agent', () => {
  test('is restarted from its journal after a second', async () => {
    const harness = await swarmOf(BACKGROUND, (conversation, request) => {
      if (request === 2) return [CRASH];
      return request === 1 ? crashing(conversation) : [says('All of it is done.')];
    });
    expect([await restarts(harness), ends(harness)]).toEqual([[[1, 1_000]], []]);
    await harness.clock.advance(999);
    expect(ends(harness)).toEqual([]);
    await harness.clock.advance(1);
    await allSettled();
    expect(ends(harness)).toMatchObject([{ stop: { reason: 'end_turn' }, turns: 2 }]);
    // The call before the crash is not repeated.
    expect(harness.callLog).toEqual(['start a', 'end a']);
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
  });

  test('is reported with a notice and an event', async () => {
    const harness = await swarmOf(BACKGROUND, crashing);
    const text = `explorer ${childOf(harness)} "A task" restarts in 1 s (attempt 1 of 3): ${WHY}`;
    expect(harness.items).toContainEqual({ type: 'notice', text });
    const events = [];
    for await (const event of harness.store.events(harness.lead.id)) events.push(event);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'agent.restarted', reason: WHY, attempt: 1, delayMs: 1_000 }),
    );
    await harness.lead.close();
  });

  test('fails after three restarts, and its parent gets its last text', async () => {
    const harness = await swarmOf(BACKGROUND, crashing);
    for (const pause of [1_000, 2_000, 4_000]) {
      expect(ends(harness)).toEqual([]);
      await harness.clock.advance(pause);
      await allSettled();
    }
    expect(await restarts(harness)).toEqual([
      [1, 1_000],
      [2, 2_000],
      [3, 4_000],
    ]);
    const detail = `${WHY} It was restarted 3 times; its work is kept.`;
    expect(ends(harness)).toMatchObject([
      { stop: { reason: 'model_error', detail }, text: 'Half of it is done.' },
    ]);
    expect((await recordsOf(harness)).at(-1)).toMatchObject({ type: 'run.ended', final: true });
    expect(harness.requests.at(-1)?.body).toContain('Half of it is done.');
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
    expect(harness.clock.sleepers).toBe(0);
  });

  test('does not repeat a call that may have had effects', async () => {
    const harness = await swarmOf(
      BACKGROUND,
      ({ last }) => [
        last.includes('did part')
          ? says('What?')
          : last.includes('check before you repeat it')
            ? says('I check.')
            : calls('k', 'Change', { name: 'part' }),
      ],
      {
        // Crashes after the change is made and before it is journaled.
        checkpoints: () =>
          fakeCheckpoints(async () => () => Promise.reject(new TypeError('no such thing'))),
      },
    );
    await harness.clock.advance(1_000);
    await allSettled();
    expect(ends(harness)).toMatchObject([{ stop: { reason: 'end_turn' }, text: 'I check.' }]);
    expect(harness.callLog).toEqual(['start part', 'end part']);
  });

  test('is not restarted after a person has stopped it', async () => {
    const harness = await swarmOf(BACKGROUND, crashing);
    const reply = await harness.lead.steer.stop(childOf(harness));
    expect(reply.ok).toBe(true);
    await harness.clock.advance(60_000);
    await allSettled();
    expect([await restarts(harness), ends(harness)]).toMatchObject([
      [[1, 1_000]],
      [{ stop: { reason: 'stopped' }, text: 'Half of it is done.' }],
    ]);
  });

  test('gets a letter that arrived before the restart', async () => {
    const harness = await swarmOf(BACKGROUND, (conversation, request) => {
      if (request === 1) return [CRASH];
      return [says(conversation.said.join().includes('Hurry') ? 'I hurry.' : 'I do not know.')];
    });
    await harness.lead.steer.send(childOf(harness), 'Hurry', 'user', 'l_hurry');
    await harness.clock.advance(1_000);
    await allSettled();
    expect(ends(harness)).toMatchObject([{ text: 'I hurry.' }]);
  });

  test('has no more turns than its limit', async () => {
    const definitions = [agentDefinition({ maxTurns: 3 })];
    const harness = await swarmOf(
      BACKGROUND,
      (conversation, request) =>
        request === 3
          ? [CRASH]
          : [calls(`k${request}`, 'Look', { name: `at ${conversation.turn}` })],
      { swarm: { definitions } },
    );
    await harness.clock.advance(1_000);
    await allSettled();
    expect(ends(harness)).toMatchObject([{ stop: { reason: 'max_turns' }, turns: 3 }]);
  });

  test('has its crashes counted across processes', async () => {
    const clock = virtualClock();
    const harness = await swarmOf(BACKGROUND, crashing, { clock });
    await clock.advance(1_000);
    await allSettled();
    expect(await restarts(harness)).toHaveLength(2);
    await harness.lead.close();
    const answer = (conversation: Conversation): Answer =>
      conversation.said.some((text) => text.includes('the work')) ? [CRASH] : [says('heard')];
    const choice = { kind: 'resume', id: harness.lead.id } as const;
    const next = await swarmHarness(answer, { clock, store: harness.store, choice });
    next.lead.start();
    await allSettled();
    const attempts = (await recordsOf(harness)).flatMap((it) =>
      it.type === 'agent.restarted' ? [it.attempt] : [],
    );
    expect(attempts).toEqual([1, 2, 3]);
    await next.lead.close();
  });

  test('has no restart timer after its session is closed', async () => {
    const harness = await swarmOf(BACKGROUND, crashing);
    await harness.lead.close();
    expect(harness.clock.sleepers).toBe(0);
  });

  test('ends at once if its journal cannot be written', async () => {
    class BrokenJournal extends MemorySessionStore {
      override async create(
        ...meta: Parameters<MemorySessionStore['create']>
      ): Promise<OwnedSession> {
        const session = await super.create(...meta);
        const journal = session.journal.bind(session);
        session.journal = async (agent, parent) => {
          const opened = await journal(agent, parent);
          const append = opened.append.bind(opened);
          const broken: Journal['append'] = (body) => {
            if (body.type !== 'agent.created' && body.type !== 'letter.received') {
              throw new TypeError('seq is not a number');
            }
            return append(body);
          };
          return parent === null ? opened : { ...opened, append: broken };
        };
        return session;
      }
    }
    const clock = virtualClock();
    const harness = await swarmOf(BACKGROUND, crashing, { clock, store: new BrokenJournal(clock) });
    expect(ends(harness)).toMatchObject([{ stop: { reason: 'model_error' }, text: '' }]);
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
  });

  test('writes the same journal for the same script', async () => {
    const log = async () => {
      const harness = await swarmOf(BACKGROUND, crashing);
      await harness.clock.advance(10_000);
      await allSettled();
      return JSON.stringify([await harness.records(), await recordsOf(harness)]);
    };
    expect(await log()).toBe(await log());
  });
});

describe('a crashed teammate', () => {
  const TEAMMATE = { description: 'A task', name: 'ann', team_name: 'ours' };

  test('is restarted at most five times', async () => {
    const harness = await swarmOf(TEAMMATE, crashing, { staysIdle: true });
    await harness.clock.advance(40_000);
    await allSettled();
    expect((await restarts(harness)).map(([, delay]) => delay)).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000,
    ]);
    expect(ends(harness)).toMatchObject([
      { stop: { reason: 'model_error' }, text: 'Half of it is done.' },
    ]);
    await harness.lead.close();
  });

  test('becomes idle after it has finished its work', async () => {
    const harness = await swarmOf(
      TEAMMATE,
      (_, request) => (request === 1 ? [CRASH] : [says('Done after all.')]),
      { staysIdle: true },
    );
    await harness.clock.advance(1_000);
    await allSettled();
    const idleTexts = harness.items.flatMap((it) =>
      it.type === 'agent.rested' ? [it.report.text] : [],
    );
    expect(idleTexts).toEqual(['Done after all.']);
    await harness.lead.close();
  });
});

describe('the children of a crashed agent', () => {
  /** Agent that starts a background child, which waits for `release`, and then crashes. */
  const crashedParent = async (after: (conversation: Conversation) => Answer) => {
    const release = gate();
    let crashed = false;
    const harness = await swarmHarness((conversation): Answer => {
      if (conversation.said.some((text) => text.includes('at the door'))) {
        return [waits(release.opened), says('The door is open.')];
      }
      if (conversation.said.some((text) => text.includes('the work'))) {
        if (conversation.turn === 0) return [calls('k', 'Task', task('at the door', BACKGROUND))];
        if (crashed) return after(conversation);
        crashed = true;
        return [CRASH];
      }
      return conversation.turn === 0
        ? [calls('t', 'Task', task('the work', BACKGROUND))]
        : [says('heard')];
    });
    await harness.say('begin');
    await allSettled();
    return { harness, release };
  };

  test('continue, and their reports reach the restarted agent', async () => {
    const { harness, release } = await crashedParent((conversation) => [
      says(
        conversation.said.join().includes('The door is open.') ? 'Heard of the door.' : 'Waiting.',
      ),
    ]);
    release.open();
    await allSettled();
    await harness.clock.advance(1_000);
    await allSettled();
    const texts = ends(harness).map(({ text }) => text);
    expect(texts).toEqual(['The door is open.', 'Heard of the door.']);
    await harness.lead.stopped;
  });

  test('are stopped with it while it waits for its restart', async () => {
    const { harness } = await crashedParent(() => [says('never')]);
    await harness.lead.steer.stop(childOf(harness));
    expect(ends(harness).map(({ stop }) => stop.reason)).toEqual(['stopped', 'stopped']);
    await harness.lead.close();
  });

  test('are stopped if it waits for them, and it gets their last texts', async () => {
    const { opened } = gate();
    const harness = await swarmHarness(
      (conversation): Answer => {
        if (conversation.said.some((text) => text.includes('at the door'))) {
          return conversation.last.includes('did near')
            ? [says('I stand here.'), waits(opened)]
            : [says('I stand here.'), calls('n', 'Look', { name: 'near' })];
        }
        if (conversation.said.some((text) => text.includes('the work'))) {
          if (conversation.turn > 0) {
            return [says(conversation.last.includes('I stand here.') ? 'I know.' : 'What?')];
          }
          const waitedFor = { ...BACKGROUND, run_in_background: false };
          return [
            calls('k', 'Task', task('at the door', waitedFor)),
            calls('l', 'Note', { name: 'part' }),
          ];
        }
        return conversation.turn === 0
          ? [calls('t', 'Task', task('the work', BACKGROUND))]
          : [says('heard')];
      },
      {
        checkpoints: () =>
          fakeCheckpoints(async () => {
            await allSettled();
            return () => Promise.reject(new TypeError('no such thing'));
          }),
      },
    );
    await harness.say('begin');
    await allSettled(60);
    expect(ends(harness).map(({ stop }) => stop.reason)).toEqual(['interrupted']);
    await harness.clock.advance(1_000);
    await allSettled(60);
    expect(ends(harness).map(({ text }) => text)).toEqual(['I stand here.', 'I know.']);
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
  });
});
