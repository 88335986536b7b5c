/** Lead with child agents in the same process. */
import { describe, expect, test } from 'vitest';
import { hookFunction } from '../../fakes/agents/hook-functions.js';
import { type Answer, calls, fails, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import {
  allSettled,
  type Conversation,
  conversationOf,
  swarmHarness,
  task,
} from './swarm-harness.js';

const explore = (prompt: string, more: Record<string, unknown> = {}) =>
  task(prompt, { subagent_type: 'explorer', ...more });

/** Chooses the answer by a text of the newest message. */
const answers =
  (replies: Record<string, ReturnType<typeof says> | ReturnType<typeof says>[]>) =>
  ({ last }: Conversation) => {
    const found = Object.entries(replies).findLast(([text]) => last.includes(text));
    return found === undefined ? [says('done')] : [found[1]].flat();
  };

describe('a typed agent', () => {
  test('reports in the result of its Task call', async () => {
    const harness = await swarmHarness(
      answers({
        begin: calls('c1', 'Task', explore('find the parser')),
        'find the parser': says('It is in src/parser.ts.'),
      }),
    );

    await harness.say('begin');
    await allSettled();

    expect(harness.results().c1).toContain('It is in src/parser.ts.');
    expect(harness.results().c1).toMatch(/explorer a_\w+ "find the parser" completed: 1 turn/);
  });

  test('has the prompt head of the lead, but not its conversation', async () => {
    const harness = await swarmHarness(
      answers({
        begin: calls('c1', 'Task', explore('find the parser')),
        'find the parser': says('It is there.'),
      }),
    );

    await harness.say('begin');
    await allSettled();

    const [lead, child] = harness.requests.map(({ body }) => body);
    const head = (body = '') => body.slice(0, body.indexOf('"messages"'));
    expect(head(child)).toBe(head(lead));
    expect(child).not.toContain('begin');
    expect(child).toContain('You explore.');
  });

  test('cannot use a tool that its definition does not allow', async () => {
    const harness = await swarmHarness(
      answers({
        begin: calls('c1', 'Task', explore('a note', { prompt: 'write it down' })),
        'write it down': calls('c2', 'Change', { name: 'a' }),
      }),
      { swarm: { definitions: [agentDefinition({ tools: ['Look'] })] } },
    );

    await harness.say('begin');
    await allSettled();

    expect(harness.callLog).toEqual([]);
    const [, , refused] = harness.requests.map((request) => conversationOf(request).last);
    expect(refused).toContain('The definition of the agent explorer');
  });
});

describe('a fork', () => {
  test('continues the conversation of its parent, with its task as the last block', async () => {
    const harness = await swarmHarness(
      answers({
        begin: [calls('c1', 'Task', task('left')), calls('c2', 'Task', task('right'))],
        '<fork-task>\nleft': says('left is done'),
        '<fork-task>\nright': says('right is done'),
      }),
    );

    await harness.say('begin');
    await allSettled();

    const [, left = '', right = ''] = harness.requests.map(({ body }) => body);
    const letters = Array.from({ length: left.length }, (_, at) => at);
    const firstDifference = letters.find((at) => left[at] !== right[at]);
    expect(left.slice(0, firstDifference)).toContain('<fork-task>');
    expect(left).toContain('"tool_use_id":"c2"');
    expect(harness.results().c1).toContain('left is done');
    expect(harness.results().c2).toContain('right is done');
  });

  test('can make calls before it reports', async () => {
    const harness = await swarmHarness(
      answers({
        begin: calls('c1', 'Task', task('left')),
        '<fork-task>\nleft': calls('c2', 'Look', { name: 'a' }),
        'did a': says('seen'),
      }),
    );

    await harness.say('begin');
    await allSettled();

    expect(harness.results().c1).toContain('seen');
    expect(harness.results().c1).toContain('2 turns');
  });
});

test('a fork keeps its task after its oldest messages were dropped', async () => {
  let looks = 0;
  const harness = await swarmHarness(({ last, said }) => {
    if (last.includes('begin')) return [calls('c1', 'Task', task('part', { prompt: 'Paint it.' }))];
    if (last.includes('a summary that you write now')) return [fails('overloaded')];
    if (!said.some((text) => text.includes('Paint it.'))) return [says('done')];
    looks += 1;
    if (looks === 8) return [fails('prompt-too-long')];
    return looks > 8 ? [says('Painted.')] : [calls(`l${looks}`, 'Look', { name: `a${looks}` })];
  });

  await harness.say('begin');
  await allSettled(60);

  const [shortened] = harness.requests.filter(({ body }) => body.includes('removed to fit'));
  expect(
    conversationOf(shortened ?? { model: '', body: '{"messages":[]}', betas: [] }).said[0],
  ).toContain('Paint it.');
  expect(harness.results().c1).toContain('Painted.');
});

describe('a background agent', () => {
  test('lets its parent continue, and wakes it with its report', async () => {
    const release = gate();
    const harness = await swarmHarness(({ last }) => {
      if (last.includes('begin')) {
        return [calls('c1', 'Task', explore('watch', { run_in_background: true }))];
      }
      if (last.includes('Started in the background')) return [says('I go on.')];
      if (last.includes('I have seen it')) return [says('So it ended.')];
      if (last.includes('watch')) return [waits(release.opened), says('I have seen it.')];
      return undefined;
    });

    await harness.say('begin');
    await allSettled();
    expect(harness.items.some(({ type }) => type === 'run.ended')).toBe(false);
    release.open();
    await allSettled();

    expect(harness.requests.map((request) => conversationOf(request).last).at(-1)).toContain(
      'I have seen it.',
    );
    expect(harness.items.filter(({ type }) => type === 'run.ended')).toHaveLength(1);
  });
});

describe('after a crash', () => {
  test.each(['sync', 'fork'])(
    'the Task call of a %s child waits for the same child again',
    async (kind) => {
      const release = gate();
      const order = kind === 'fork' ? task('the work') : explore('the work');
      const slow = await swarmHarness(({ last }) => {
        if (last.includes('begin')) return [calls('c1', 'Task', order)];
        if (last.includes('did a')) return [waits(release.opened), says('never said')];
        return [calls('c2', 'Look', { name: 'a' })];
      });
      await slow.say('begin');
      await allSettled();
      await slow.lead.close();

      const { store, clock } = slow;
      const choice = { kind: 'resume', id: slow.lead.id } as const;
      const harness = await swarmHarness(
        ({ last }) => [says(last.includes('did a') ? 'It was easy.' : 'All is done.')],
        { store, clock, choice },
      );
      harness.lead.start();
      await allSettled();

      expect(harness.results().c1).toContain('It was easy.');
      expect(await store.agents(harness.lead.id)).toHaveLength(2);
      expect(harness.callLog).toEqual([]);
    },
  );

  test('the fork of an agent still runs the hooks of that agent', async () => {
    const release = gate();
    const denies = hookFunction('PreToolUse', () => ({ decision: 'block', reason: 'Not that.' }), {
      matches: (tool) => tool === 'Change',
    });
    const tools = ['Task', 'Change'];
    const swarm = { definitions: [agentDefinition({ tools, hooks: [denies] })] };
    const slow = await swarmHarness(
      ({ last }): Answer => {
        if (last.includes('begin')) return [calls('c1', 'Task', explore('hand it on'))];
        if (last.includes('the work')) return [waits(release.opened), says('never said')];
        return [calls('c2', 'Task', task('the work'))];
      },
      { swarm },
    );
    await slow.say('begin');
    await allSettled();
    await slow.lead.close();

    const { store, clock } = slow;
    const choice = { kind: 'resume', id: slow.lead.id } as const;
    const harness = await swarmHarness(
      ({ last }) =>
        last.includes('the work') ? [calls('c3', 'Change', { name: 'a' })] : [says(last)],
      { store, clock, choice, swarm },
    );
    harness.lead.start();
    await allSettled();

    expect(harness.callLog).toEqual([]);
    expect(harness.results().c1).toContain('Not that.');
  });

  test('a Task call waits for its child again, even if its definition is gone', async () => {
    const release = gate();
    const slow = await swarmHarness(
      ({ last }): Answer =>
        last.includes('begin')
          ? [calls('c1', 'Task', explore('the work'))]
          : [waits(release.opened), says('never said')],
    );
    await slow.say('begin');
    await allSettled();
    await slow.lead.close();

    const { store, clock } = slow;
    const choice = { kind: 'resume', id: slow.lead.id } as const;
    const harness = await swarmHarness(() => [says('It was easy.')], {
      store,
      clock,
      choice,
      swarm: { definitions: [] },
    });
    harness.lead.start();
    await allSettled();

    expect(harness.results().c1).toContain('It was easy.');
  });
});
