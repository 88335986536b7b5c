import { describe, expect, test } from 'vitest';
import { calls, says } from '../../fakes/agents/scripted-model.js';
import { allSettled, swarmHarness, task } from '../swarm/swarm-harness.js';

const ORDER = task('tell', { description: 'WORDS', subagent_type: 'explorer' });
const WORDS = `First words.${'x'.repeat(250_000)}Last words.`;

describe('a child report over the size limit', () => {
  test('keeps start and end in the result of the Task call, and states its length', async () => {
    const harness = await swarmHarness(({ last }) => {
      if (last.includes('begin')) return [calls('c1', 'Task', ORDER)];
      return [says(last.endsWith('tell') ? WORDS : 'ok')];
    });
    await harness.say('begin');
    await allSettled();

    const { c1: result = '' } = harness.results();
    const [, said = ''] = result.split('<agent-report>\n');
    expect(said.slice(0, 12)).toBe('First words.');
    expect(said.slice(-27)).toBe('Last words.\n</agent-report>');
    expect(/the report has (\d+) characters/.exec(said)?.[1]).toBe(`${WORDS.length}`);
    expect(result.length).toBeLessThan(31_000);
  });

  test('is cut to 100,000 characters in the feed, with its end kept', async () => {
    const harness = await swarmHarness(({ last }) => {
      if (last.includes('begin')) return [calls('c1', 'Task', ORDER)];
      return [says(last.endsWith('tell') ? WORDS : 'ok')];
    });
    await harness.say('begin');
    await allSettled();

    const [text = ''] = harness.items.flatMap((item) =>
      item.type === 'agent.ended' ? [item.report.text] : [],
    );
    expect(text.length).toBeLessThanOrEqual(100_000);
    expect(text.slice(-11)).toBe('Last words.');
  });
});
