/** Totals of the descendants in a report, with and without a restart of the agent. */
import { describe, expect, test } from 'vitest';
import type { FileChange } from '../../../src/protocol/session/checkpoints.js';
import { fakeCheckpoints } from '../../fakes/agents/fake-checkpoints.js';
import { calls, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import type { LeadOptions } from '../session/lead-harness.js';
import { allSettled, type Conversation, swarmHarness, task } from './swarm-harness.js';

const BACKGROUND = { run_in_background: true };
const explorer = (prompt: string, more: Record<string, unknown> = {}) =>
  task(prompt, { description: prompt.toUpperCase(), subagent_type: 'explorer', ...more });

/** Records a file change for every path of a writing call. */
const checkpoints: NonNullable<LeadOptions['checkpoints']> = () =>
  fakeCheckpoints(async ({ paths = [] }) => {
    const changes = paths.map(
      (path): FileChange => ({ path, before: { kind: 'absent' }, after: { kind: 'absent' } }),
    );
    return async () => changes;
  });

/** Answers of a lead, its child `middle` and the grandchild `deep`, which changes a file. */
const threeLevels =
  (middle: Promise<void>, more: Record<string, unknown> = {}) =>
  ({ last, said }: Conversation) => {
    const [first = ''] = said;
    if (first.includes('deep')) {
      return [
        last.includes('did') ? says('deep is done') : calls('d1', 'Note', { name: 'deep.txt' }),
      ];
    }
    if (first.includes('middle')) {
      if (last.includes('again')) return [says('middle is done again')];
      return last.includes('deep is done')
        ? [waits(middle), says('middle is done')]
        : [calls('m1', 'Task', explorer('deep'))];
    }
    return last.includes('begin') ? [calls('c1', 'Task', explorer('middle', more))] : [says('ok')];
  };

const opened = Promise.resolve();
const HEADS =
  /Agent explorer a_\w+ "MIDDLE" completed: (\d+) turns, (\d+) tokens, (\S+)\.( Changed: \S+)?/;

/** Figures in the report of `middle`: turns, tokens of its subtree and changed files. */
const figures = (text: string | undefined) => {
  const [, turns, tokens, , changed] = HEADS.exec(text ?? '') ?? [];
  return { turns: Number(turns), tokens: Number(tokens), changed: changed?.trim() };
};

const CHANGED = 'Changed: /tmp/deep.txt';

describe('a child report includes all descendants', () => {
  test('in a single process', async () => {
    const harness = await swarmHarness(threeLevels(opened), { checkpoints });
    await harness.say('begin');
    await allSettled();
    expect(figures(harness.results().c1)).toEqual({ turns: 2, tokens: 440, changed: CHANGED });
  });

  test('after the agent is resumed in another process', async () => {
    const slow = await swarmHarness(threeLevels(gate().opened), { checkpoints });
    await slow.say('begin');
    await allSettled();
    await slow.lead.close();
    const { store, clock } = slow;
    const choice = { kind: 'resume', id: slow.lead.id } as const;
    const harness = await swarmHarness(threeLevels(opened), { store, clock, choice, checkpoints });
    harness.lead.start();
    await allSettled();
    expect(figures(harness.results().c1)).toEqual({ turns: 2, tokens: 440, changed: CHANGED });
    expect(harness.lead.spent.usage).toMatchObject({ input: 600, output: 60 });
  });

  test('if the agent ended without a delivered report', async () => {
    const release = gate();
    const slow = await swarmHarness(
      (conversation) =>
        conversation.last.includes('Started in the background')
          ? [waits(release.opened), says('never')]
          : threeLevels(opened, BACKGROUND)(conversation),
      { checkpoints },
    );
    await slow.say('begin');
    await allSettled();
    await slow.lead.close();
    const { store, clock } = slow;
    const choice = { kind: 'resume', id: slow.lead.id } as const;
    const harness = await swarmHarness(
      ({ last }) => [
        last.includes('look')
          ? calls('c2', 'TaskOutput', { task_id: 'a_2', block: false })
          : says('ok'),
      ],
      { store, clock, choice, checkpoints },
    );
    await harness.say('look');
    await allSettled();
    expect(figures(harness.results().c2)).toEqual({ turns: 2, tokens: 440, changed: CHANGED });
  });

  test('after the agent was woken by a letter', async () => {
    const harness = await swarmHarness(threeLevels(opened), { checkpoints, staysIdle: true });
    await harness.say('begin');
    await allSettled();
    await harness.lead.steer.send('a_2', 'again', 'user', 'l_again');
    await allSettled();
    expect(harness.requests.at(-1)?.body).toContain('middle is done again');
    expect(
      figures(JSON.parse(harness.requests.at(-1)?.body ?? '').messages.at(-1).content[0].text),
    ).toEqual({
      turns: 3,
      tokens: 550,
      changed: CHANGED,
    });
  });
});
