import { describe, expect, test } from 'vitest';
import type { ToolOutcome } from '../../../src/protocol/tools/tool.js';
import { calls, gate, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { settled } from '../../fakes/virtual-clock.js';
import { type LeadOptions, leadHarness } from '../session/lead-harness.js';

interface Block {
  readonly content: string | { readonly text: string }[];
  readonly is_error?: boolean;
}

/** Calls that end in the given order. Returns the results that the model got, as blocks. */
const resultsOf = async (
  outcomes: readonly ToolOutcome[],
  order: readonly number[],
  options: Partial<LeadOptions> = {},
) => {
  const gates = outcomes.map(() => gate());
  const made = outcomes.map((_, at) => calls(`c${at}`, 'Look', { name: `n${at}` }));
  const effects = Object.fromEntries(
    outcomes.map((outcome, at) => [`n${at}`, () => gates[at]?.opened.then(() => outcome) as never]),
  );
  const model = scriptedModel(made, [says('Done.')]);
  const harness = await leadHarness({ model, effects, ...options });
  await harness.say('Go');
  for (const at of order) {
    gates[at]?.open();
    await settled();
  }
  await harness.lead.stopped;
  const body = model.requests[1]?.body ?? '';
  const { messages } = JSON.parse(body) as { messages: { content: Block[] }[] };
  return { ...harness, body, blocks: messages.at(-1)?.content ?? [] };
};

const isPreview = ({ content }: Block) => JSON.stringify(content).includes('-result.');
const text = (length: number): ToolOutcome => ({ content: 'x'.repeat(length) });
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('the results of a message', () => {
  test('become the same previews in whatever order the calls end', async () => {
    const outcomes = [text(20_000), { ...text(20_000), isError: true }, text(500), text(7_000)];
    const options = { contextWindow: 20_000 };
    const orders = [upTo(4), upTo(4).reverse(), [2, 0, 3, 1]];
    const runs = await Promise.all(orders.map((order) => resultsOf(outcomes, order, options)));
    expect(new Set(runs.map(({ body }) => body)).size).toBe(1);
    const [{ blocks, records } = await resultsOf([], [])] = runs;
    expect(blocks.map(isPreview)).toEqual([false, true, false, false]);
    expect(blocks.map(({ is_error }) => is_error)).toEqual([undefined, true, undefined, undefined]);
    expect((await records()).filter(({ type }) => type === 'bound.hit')).toMatchObject([
      { what: 'message-results', limit: 8_000 },
    ]);
  });

  test('count by the smallest window of the models that may be used', async () => {
    const outcomes = Array<ToolOutcome>(5).fill(text(90_000));
    const large = await resultsOf(outcomes, upTo(5));
    expect(large.blocks.map(isPreview)).toEqual(Array(5).fill(false));
    const small = await resultsOf(outcomes, upTo(5), { fallbackModel: 'claude-haiku-4-5' });
    expect(small.blocks.map(isPreview)).toEqual([false, false, false, true, true]);
  });

  test('count an image by its tokens, and store an image that does not fit as a file', async () => {
    const source = {
      type: 'base64',
      media_type: 'image/png',
      data: 'AAAA'.repeat(20_000),
    } as const;
    const image: ToolOutcome = { content: [{ type: 'image', source }] };
    const { blocks } = await resultsOf(Array<ToolOutcome>(6).fill(image), upTo(6), {
      contextWindow: 20_000,
    });
    expect(blocks.map(isPreview)).toEqual([false, false, false, true, true, true]);
    expect(blocks[5]?.content).toMatch(/image\/png of 60000 bytes.*\/c5-result\.png/);
  });

  test('keep their bytes after a resume', async () => {
    const outcomes = Array<ToolOutcome>(4).fill(text(20_000));
    const options = { contextWindow: 20_000 };
    const { store, lead, blocks } = await resultsOf(outcomes, upTo(4), options);
    await lead.close();
    const model = scriptedModel([says('On.')]);
    const choice = { kind: 'resume', id: lead.id } as const;
    const resumed = await leadHarness({ model, store, choice });
    await resumed.say('Continue.');
    await resumed.lead.stopped;
    const { messages } = JSON.parse(model.requests[0]?.body ?? '') as {
      messages: { content: Block[] }[];
    };
    expect(messages[2]?.content.map(({ content }) => content)).toEqual(
      blocks.map(({ content }) => content),
    );
    expect(blocks.some(isPreview)).toBe(true);
  });
});
