/** Commands of a person for the agents of a swarm in the same process. */
import { describe, expect, test } from 'vitest';
import type { CommandReply } from '../../../src/protocol/agent/swarm-command.js';
import type { HookFunction } from '../../../src/protocol/permission/hook-setup.js';
import { swarmControl } from '../../../src/sdk/control/swarm-control.js';
import { hookFunction } from '../../fakes/agents/hook-functions.js';
import {
  type Answer,
  calls,
  gate,
  type Step,
  says,
  waits,
} from '../../fakes/agents/scripted-model.js';
import { allSettled, type Conversation, swarmHarness, task } from '../swarm/swarm-harness.js';

const inBackground = (prompt: string, more: Record<string, unknown> = {}) =>
  task(prompt, { subagent_type: 'explorer', run_in_background: true, ...more });

/**
 * Lead with a background agent, whose n-th request gets the n-th of these answers.
 */
const withHelper = async (answers: readonly Answer[], name = 'scout', staysIdle = true) => {
  const asked: Conversation[] = [];
  /** Steps of the lead before it answers. */
  const pace: { busy: Step | undefined } = { busy: undefined };
  const answer = (conversation: Conversation): Answer => {
    if (conversation.last.includes('begin'))
      return [calls('c1', 'Task', inBackground('look', { name }))];
    if (!conversation.said[0]?.includes('look'))
      return [...(pace.busy ? [pace.busy] : []), says('noted')];
    asked.push(conversation);
    return answers[asked.length - 1] ?? [says('nothing more')];
  };
  const harness = await swarmHarness(answer, { staysIdle });
  await harness.say('begin');
  await allSettled();
  const control = swarmControl(harness.lead);
  const [id = ''] = harness.lead.steer.matching(name);
  const reports = async () =>
    (await harness.records()).filter(
      (record) => record.type === 'letter.received' && record.from === 'agent',
    );
  const journal = async () => (await harness.store.readJournal(harness.lead.id, id)).records;
  return Object.assign(pace, { ...harness, control, asked, id, reports, journal });
};

describe('a letter to an agent', () => {
  test('is in its next request exactly once, even if it is sent several times', async () => {
    const release = gate();
    const { control, asked } = await withHelper([[waits(release.opened), says('a')], [says('b')]]);

    const first = await control.send('scout', 'the docs too', 'user', 'l_x');
    const again = await control.send('scout', 'the docs too', 'user', 'l_x');
    release.open();
    await allSettled();
    await control.send('scout', 'the docs too', 'user', 'l_x');
    await allSettled();

    expect([first.ok, again.ok]).toEqual([true, true]);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.said.join().split('the docs too')).toHaveLength(2);
  });

  test('that has ended resumes it with its whole conversation', async () => {
    const { control, asked, reports } = await withHelper([[says('seen')], [says('seen more')]]);

    expect(await control.send('scout', 'and the rest', 'user', 'l_x')).toMatchObject({ ok: true });
    await allSettled();

    expect(asked).toHaveLength(2);
    expect(asked[1]?.body.startsWith(`${asked[0]?.body.slice(0, -2)},`)).toBe(true);
    expect(asked[1]?.last).toContain('and the rest');
    expect(await reports()).toHaveLength(2);
  });

  test('is delivered together with a concurrent letter', async () => {
    const { control, asked } = await withHelper([[says('seen')], [says('seen more')]]);

    const replies = await Promise.all([
      control.send('scout', 'the first', 'user', 'l_one'),
      control.send('scout', 'the second', 'user', 'l_two'),
    ]);
    await allSettled();

    expect(replies.map(({ ok }) => ok)).toEqual([true, true]);
    const said = asked.at(-1)?.said.join() ?? '';
    expect([said.split('the first').length, said.split('the second').length]).toEqual([2, 2]);
  });

  test('is rejected if it is empty', async () => {
    const { control, asked } = await withHelper([]);
    expect(await control.send('scout', ' ', 'user', 'l_x')).toMatchObject({ ok: false });
    expect(asked).toHaveLength(1);
  });
});

describe('an agent stopped by a person', () => {
  test('rejects letters, and resumes when a person resumes it', async () => {
    const { control, asked, id, reports } = await withHelper([
      [says('half'), waits(gate().opened)],
      [says('all of it')],
    ]);

    expect(await control.stop('scout')).toMatchObject({ ok: true, agent: id });
    expect(await control.send(id, 'go on', 'user', 'l_x')).toMatchObject({
      ok: false,
      sentence: expect.stringContaining('was stopped by a person; resume it'),
    });
    await allSettled();
    expect(asked).toHaveLength(1);
    expect(await reports()).toMatchObject([
      { raw: expect.stringContaining('The user stopped it') },
    ]);

    expect(await control.resume('scout')).toMatchObject({ ok: true });
    await allSettled();
    expect(asked).toHaveLength(2);
    expect(await reports()).toMatchObject([{}, { raw: expect.stringContaining('all of it') }]);
  });

  test('starts once if it is resumed twice', async () => {
    const { control, asked, journal } = await withHelper([
      [says('half'), waits(gate().opened)],
      [says('all of it')],
    ]);
    await control.stop('scout');
    const replies = await Promise.all([control.resume('scout'), control.resume('scout')]);
    await allSettled();

    expect(replies.map(({ ok }) => ok)).toEqual([true, true]);
    expect(asked).toHaveLength(2);
    const runs = (await journal()).filter(({ type }) => type === 'run.started');
    expect(runs).toHaveLength(2);
  });
});

describe('the children of an agent stopped by a person', () => {
  /**
   * Background agent `par` waits for a child, has another background child, and continues on
   * demand.
   */
  const withChildren = async () => {
    const never = new Promise<void>(() => {});
    const asked: string[] = [];
    const harness = await swarmHarness(
      ({ said, last, turn }) => {
        if (last.includes('begin')) return [calls('c1', 'Task', inBackground('mid', PARENT))];
        const who = ['low', 'deep', 'mid'].find((text) => said[0]?.includes(text)) ?? 'lead';
        asked.push(who);
        if (who === 'low' || who === 'deep') return [says('half'), waits(never)];
        if (who === 'lead' || turn > 0) return [says('noted')];
        return [
          calls('c2', 'Task', inBackground('low', BACKGROUND_CHILD)),
          calls('c3', 'Task', task('deep', { ...SYNC_CHILD, subagent_type: 'explorer' })),
        ];
      },
      { staysIdle: true },
    );
    await harness.say('begin');
    await allSettled();
    return { ...harness, asked, control: swarmControl(harness.lead) };
  };
  const PARENT = { name: 'par', description: 'x' };
  const BACKGROUND_CHILD = { name: 'kid', description: 'x' };
  const SYNC_CHILD = { name: 'kin', description: 'x' };

  test.each(['kid', 'kin'])('are stopped with it: %s', async (name) => {
    const { control, asked } = await withChildren();
    await control.stop('par');
    const before = asked.length;
    expect(await control.send(name, 'wake', 'user', 'l_x')).toMatchObject({
      ok: false,
      sentence: expect.stringContaining('was stopped by a person'),
    });
    await allSettled();
    expect(asked.slice(before).filter((who) => who !== 'lead')).toEqual([]);
    expect(await control.resume(name)).toMatchObject({ ok: true });
    await allSettled();
    expect(asked.at(-1)).toBe(name === 'kid' ? 'low' : 'deep');
  });

  test('are still stopped after a resume of the session', async () => {
    const { control, lead, store, clock } = await withChildren();
    await control.stop('par');
    await lead.close();
    const choice = { kind: 'resume', id: lead.id } as const;
    const next = await swarmHarness(() => [says('ok')], { store, clock, choice, staysIdle: true });
    expect(await swarmControl(next.lead).send('kin', 'wake', 'user', 'l_x')).toMatchObject({
      ok: false,
    });
  });
});

describe('a lead stopped by a person', () => {
  test.each([
    ['running', 'more'],
    ['idle', undefined],
  ])('while %s stays stopped with all its agents until the person writes', async (_, more) => {
    const release = gate();
    const harness = await withHelper([[says('half'), waits(release.opened), says('whole')]]);
    const { control, records, reports, lead } = harness;
    if (more !== undefined) harness.busy = waits(new Promise(() => {}));
    if (more !== undefined) await harness.say(more);
    await allSettled();
    expect(await control.stop('lead')).toEqual({
      ok: true,
      agent: lead.meta.lead,
      sentence: 'The lead is stopped, with all its agents.',
    });
    const runs = async () => (await records()).filter(({ type }) => type === 'run.started').length;
    const before = await runs();
    release.open();
    await allSettled();
    expect(await runs()).toBe(before);
    expect(lead.isIdle).toBe(true);
    expect((await control.send('scout', 'wake', 'user', 'l_x')).ok).toBe(false);
    expect(await reports()).toMatchObject([
      { raw: expect.stringContaining('The user stopped it') },
    ]);

    harness.busy = undefined;
    await control.send('lead', 'and now?', 'user', 'l_y');
    await allSettled();
    expect(await runs()).toBe(before + 1);
    const last = harness.requests.at(-1)?.body ?? '';
    expect([last.includes('The user stopped it'), last.includes('and now?')]).toEqual([true, true]);
    expect(lead.state).toBe('idle');
  });

  test('resumes on command with the letters that arrived meanwhile', async () => {
    const { control, requests, lead } = await withHelper([[waits(gate().opened)]]);
    await control.stop('lead');
    const before = requests.length;
    expect(await control.resume('lead')).toMatchObject({ ok: true, sentence: 'The lead resumes.' });
    await allSettled();
    expect(requests).toHaveLength(before + 1);
    expect(requests.at(-1)?.body).toContain('The user stopped it');

    expect(await control.resume('lead')).toMatchObject({ ok: true });
    await allSettled();
    expect(requests.at(-1)?.body).toContain('Continue where you stopped.');
    expect(lead.state).toBe('idle');
  });

  test('is not woken by the report of an agent that the person resumed', async () => {
    const { control, records } = await withHelper([[waits(gate().opened)], [says('seen')]]);
    await control.stop('lead');
    await control.resume('scout');
    await allSettled();
    const runs = (await records()).filter(({ type }) => type === 'run.started');
    expect(runs).toHaveLength(1);
  });

  test('that has ended can only be resumed with its session', async () => {
    const harness = await withHelper([[waits(gate().opened)]], 'scout', false);
    await harness.control.stop('lead');
    expect((await harness.lead.stopped).stop.reason).toBe('interrupted');
    expect(await harness.control.resume('lead')).toMatchObject({
      ok: false,
      sentence: expect.stringContaining('skein --resume'),
    });
  });

  test('is reported as idle if neither it nor an agent runs', async () => {
    const { control } = await withHelper([[says('seen')]]);
    await allSettled();
    expect((await control.stop('lead')).sentence).toBe('The lead is idle, with no agent running.');
  });
});

describe('an address', () => {
  test('that matches the lead and an agent is rejected as ambiguous', async () => {
    const { control, id, lead } = await withHelper([]);
    const reply = await control.stop('a_');
    expect(reply).toMatchObject({ ok: false, agent: null });
    for (const each of [id, lead.meta.lead]) expect(reply.sentence).toContain(each);
  });

  test('that is the name of an agent selects the agent, even if it is a prefix of "lead"', async () => {
    const { control, id } = await withHelper([], 'l');
    expect(await control.stop('l')).toMatchObject({ ok: true, agent: id });
  });

  test('of the lead selects the lead, and an unknown address is rejected', async () => {
    const { control, lead, asked } = await withHelper([]);
    for (const address of [lead.meta.lead, lead.id, 'lead']) {
      expect(await control.stop(address)).toMatchObject({ ok: true, agent: lead.meta.lead });
    }
    expect(await control.stop('nobody')).toMatchObject({ ok: false, agent: null });
    expect(asked).toHaveLength(1);
  });
});

test('a letter to the lead is delivered once, even if it is sent several times', async () => {
  const { control, records } = await withHelper([]);
  for (let time = 0; time < 3; time += 1) await control.send('lead', 'more', 'user', 'l_x');
  await allSettled();
  const letters = (await records()).filter(
    (record) => record.type === 'letter.received' && record.letter === 'l_x',
  );
  expect(letters).toHaveLength(1);
});

describe('an agent that was resumed after its parent had ended', () => {
  /** Lead with a stopped background agent `above` and its resumed background child `below`. */
  const resumedChild = async () => {
    const release = gate();
    const childGates = [NEVER, release.opened];
    const requestsOfParent: Conversation[] = [];
    const answer = (conversation: Conversation): Answer => {
      const { said, turn, last } = conversation;
      if (last.includes('begin')) return [calls('c1', 'Task', inBackground('high', ABOVE))];
      if (last.includes('again')) return [says('found more')];
      if (said[0]?.includes('low')) return [waits(childGates.shift() ?? NEVER), says('found it')];
      if (!said[0]?.includes('high')) return [says('noted')];
      requestsOfParent.push(conversation);
      return turn === 0 ? [calls('c2', 'Task', inBackground('low', BELOW))] : [says('so far')];
    };
    const harness = await swarmHarness(answer, { staysIdle: true });
    await harness.say('begin');
    await allSettled();
    const { steer } = harness.lead;
    await steer.stop('above');
    await steer.resume('below');
    await allSettled();
    return { ...harness, release, requestsOfParent, steer, control: swarmControl(harness.lead) };
  };
  const [ABOVE, BELOW] = [{ name: 'above' }, { name: 'below', description: 'x' }];
  const NEVER = new Promise<void>(() => {});

  test('reports to the resumed parent, which then ends', async () => {
    const { release, requestsOfParent, steer } = await resumedChild();
    await steer.resume('above');
    await allSettled();
    release.open();
    await allSettled();
    expect(requestsOfParent.at(-1)?.last).toContain('found it');
    expect((await steer.stop('above')).sentence).toContain('is not running (ended)');
  });

  test('is stopped if a person stops the parent again', async () => {
    const { steer } = await resumedChild();
    await steer.stop('above');
    expect((await steer.stop('below')).sentence).toContain('is not running (stopped)');
  });

  test('is reported to the parent that is resumed later', async () => {
    const { release, requestsOfParent, steer } = await resumedChild();
    release.open();
    await allSettled();
    await steer.resume('above');
    await allSettled();
    expect(requestsOfParent.at(-1)?.last).toContain('found it');
  });

  test('is reported to the parent each time it ends', async () => {
    const { control, release, requestsOfParent, steer } = await resumedChild();
    release.open();
    await allSettled();
    await steer.resume('above');
    await allSettled();
    await control.send('below', 'again', 'user', 'l_x');
    await allSettled();
    await control.send('above', 'go on', 'user', 'l_y');
    await allSettled();
    expect(requestsOfParent.at(-1)?.last).toContain('found more');
  });
});

describe('a letter to the lead with a UserPromptSubmit hook', () => {
  const sendWith = async (answer: HookFunction) => {
    const hook = hookFunction('UserPromptSubmit', answer);
    const harness = await swarmHarness(() => [says('ok')], { staysIdle: true, hooks: [hook] });
    const control = swarmControl(harness.lead);
    const letters = async () =>
      (await harness.records()).filter(({ type }) => type === 'letter.received').length;
    let reply: CommandReply | undefined;
    const sent = control.send('lead', 'the docs too', 'user', 'l_x').then((it) => {
      reply = it;
    });
    await allSettled();
    return { ...harness, letters, sent, reply: () => reply };
  };

  test('is confirmed only after it is journaled', async () => {
    const release = gate();
    const { reply, letters, sent } = await sendWith(() => release.opened);
    expect([reply(), await letters()]).toEqual([undefined, 0]);
    release.open();
    await sent;
    expect([reply()?.ok, await letters()]).toEqual([true, 1]);
  });

  test('is rejected with the reason if the hook blocks it', async () => {
    const { reply, letters } = await sendWith(() => ({ decision: 'block', reason: 'Not now.' }));
    expect(await letters()).toBe(0);
    expect(reply()).toMatchObject({
      ok: false,
      sentence: 'The lead did not get the message. The prompt was refused and erased: Not now.',
    });
  });

  test('is rejected if the session ends while the hook runs', async () => {
    const { reply, lead } = await sendWith(() => new Promise(() => {}));
    await lead.close();
    await allSettled();
    expect(reply()).toMatchObject({ ok: false, sentence: expect.stringMatching(/interrupted/) });
  });
});

test('an agent is found and its cost counts after the lead was rewound to before its start', async () => {
  const first = await withHelper([[says('seen')]]);
  const [born] = await first.records();
  await first.lead.close();
  const session = await first.store.open(first.lead.id);
  const journal = await session.journal(first.lead.meta.lead, null);
  const to = born?.seq ?? 0;
  journal.append({ type: 'session.rewound', to, conversation: true, changes: [] });
  await session.close();
  const choice = { kind: 'resume', id: first.lead.id } as const;
  const { lead } = await swarmHarness(() => [says('ok')], { store: first.store, choice });
  expect(lead.steer.matching('scout')).toEqual([first.id]);
  expect(lead.spent.cost).toBe(first.lead.spent.cost);
});

test('an ended agent that was woken and lost its process resumes in the next process', async () => {
  const first = await withHelper([[says('seen')], [waits(new Promise(() => {})), says('never')]]);
  await first.control.send('scout', 'and the rest', 'user', 'l_x');
  await allSettled();
  await first.lead.close();
  const { lead, requests } = await swarmHarness(() => [says('ok')], {
    store: first.store,
    clock: first.clock,
    staysIdle: true,
    choice: { kind: 'resume', id: first.lead.id },
  });
  lead.start();
  await allSettled();
  expect(requests[0]?.body).toContain('and the rest');
});
