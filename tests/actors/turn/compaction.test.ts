import { describe, expect, test } from 'vitest';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import {
  type Answer,
  calls,
  ends,
  fails,
  gate,
  says,
  scriptedModel,
  waits,
} from '../../fakes/agents/scripted-model.js';
import { settled } from '../../fakes/virtual-clock.js';
import { type LeadOptions, leadHarness } from '../session/lead-harness.js';
import { answers, type Body, unmarked, WINDOW } from '../session/small-window.js';

const bodyOf = (request: { body: string } | undefined) => JSON.parse(request?.body ?? '{}') as Body;
const notices = (items: readonly FeedItem[]) =>
  items.flatMap((item) => (item.type === 'notice' ? [item.text] : []));

/** Ten exchanges; the last answer counted `tokens`. */
const tenExchanges = (tokens: number): Answer[] => [
  ...Array.from({ length: 9 }, (_, at) => answers(`Answer ${at + 1}.`, 100)),
  answers('Answer 10.', tokens),
];

const afterTen = async (tokens: number, then: Answer[], options: Partial<LeadOptions> = {}) => {
  const model = scriptedModel(...tenExchanges(tokens), ...then);
  const harness = await leadHarness({ model, staysIdle: true, contextWindow: WINDOW, ...options });
  for (let number = 1; number <= 10; number += 1) await harness.say(`Prompt ${number}.`);
  return { ...harness, model };
};

describe('a conversation near the context window limit', () => {
  test('is sent unchanged up to the threshold', async () => {
    // The next prompt adds 16 tokens to the count of the last answer.
    const { model, say } = await afterTen(8_334, [answers('Answer 11.', 1)]);
    await say('Prompt 11.');
    expect(model.requests).toHaveLength(11);
  });

  test('is summarised above the threshold, in a request that extends the conversation', async () => {
    const { model, say, lead } = await afterTen(8_335, [
      answers('They counted to ten.', 8_400),
      answers('Answer 11.', 300),
    ]);
    await say('Prompt 11.');
    const [last, summary, shorter] = model.requests.slice(-3);
    const prefix = unmarked(last?.body ?? '').slice(0, -2);
    expect(unmarked(summary?.body ?? '').startsWith(prefix)).toBe(true);
    expect(
      bodyOf(summary)
        .messages.at(-1)
        ?.content.map(({ text }) => text?.slice(0, 20)),
    ).toEqual(['Prompt 11.', 'The conversation is ']);
    const { messages } = bodyOf(shorter);
    expect(messages.map(({ role }) => role).join(' ')).toBe(`user${' assistant user'.repeat(6)}`);
    expect(messages[0]?.content[0]?.text).toContain('word for word:\n\nPrompt 1.\n');
    expect(messages[0]?.content[0]?.text).toContain('They counted to ten.');
    expect(messages[1]?.content[0]?.text).toBe('Answer 5.');
    expect(lead.isIdle).toBe(true);
  });

  test('journals the compaction as a prompt break with token counts, and bills the summary', async () => {
    const { say, records, lead } = await afterTen(8_400, [
      answers('Summary.', 8_500),
      answers('Answer 11.', 300),
    ]);
    const before = lead.journal.history.spent.cost ?? 0;
    await say('Prompt 11.');
    const made = (await records()).slice(-9).map(({ type }) => type);
    expect(made).toEqual([
      'letter.received',
      'run.started',
      'user.sent',
      'consultation.started',
      'consultation.ended',
      'prompt.broken',
      'turn.started',
      'assistant.received',
      'run.ended',
    ]);
    const broken = (await records()).find(({ type }) => type === 'prompt.broken');
    expect(broken).toMatchObject({ reason: 'compaction', dropped: 9, section: 'messages' });
    expect(broken).toMatchObject({ tokensBefore: 8_416, tokensAfter: expect.any(Number) });
    const { tokensAfter = 0 } = broken as { tokensAfter?: number };
    expect(tokensAfter).toBeGreaterThan(200);
    expect(tokensAfter).toBeLessThan(400);
    expect((lead.journal.history.spent.cost ?? 0) - before).toBeCloseTo((8_500 + 300) * 4e-6, 6);
  });

  test('shows a notice once above the notice threshold', async () => {
    const { items, say } = await afterTen(7_350, [
      answers('Answer 11.', 7_400),
      answers('Answer 12.', 7_500),
    ]);
    await say('Prompt 11.');
    await say('Prompt 12.');
    expect(notices(items)).toEqual([
      'The conversation fills about 7366 of 10000 tokens; above 8350 its older part is summarised.',
    ]);
  });

  test('shows no notice if the compaction starts at once', async () => {
    const { items, say } = await afterTen(8_400, [answers('Summary.', 1), answers('Yes.', 1)]);
    await say('Prompt 11.');
    expect(notices(items)).toEqual([]);
  });

  test('keeps each call together with its result', async () => {
    const work: Answer[] = Array.from({ length: 9 }, (_, at) => [
      calls(`c${at}`, 'Look', { name: `f${at}` }),
      ends('tool_use', { input: at === 8 ? 9_000 : 100, output: 0 }),
    ]);
    const model = scriptedModel(...work, [says('Nine were read.')], [says('Done.')]);
    const { say } = await leadHarness({ model, staysIdle: true, contextWindow: WINDOW });
    await say('Read nine files.');
    const { messages } = bodyOf(model.requests.at(-1));
    const uses = messages.flatMap(({ content }) =>
      content.flatMap((block) =>
        block.type === 'tool_use' ? [(block as unknown as { id: string }).id] : [],
      ),
    );
    const results = messages.flatMap(({ content }) =>
      content.flatMap((block) =>
        block.type === 'tool_result'
          ? [(block as unknown as { tool_use_id: string }).tool_use_id]
          : [],
      ),
    );
    expect(uses).toEqual(['c3', 'c4', 'c5', 'c6', 'c7', 'c8']);
    expect(results).toEqual(uses);
  });

  test('merges an earlier summary and keeps the first prompt', async () => {
    const { model, say } = await afterTen(8_400, [
      answers('The first summary.', 1),
      answers('Answer 11.', 8_400),
      answers('The second summary.', 1),
      answers('Answer 12.', 1),
    ]);
    await say('Prompt 11.');
    await say('Prompt 12.');
    const asked = bodyOf(model.requests.at(-2)).messages[0]?.content[0]?.text;
    expect(asked).toContain('The first summary.');
    const text = bodyOf(model.requests.at(-1)).messages[0]?.content[0]?.text ?? '';
    expect(text).toContain('word for word:\n\nPrompt 1.\n');
    expect(text).toContain('The second summary.');
    expect(text).not.toContain('The first summary.');
  });

  test('has the same prompt bytes after a resume', async () => {
    const { model, say, lead, store, clock } = await afterTen(8_400, [
      answers('Summary.', 1),
      answers('Answer 11.', 200),
    ]);
    await say('Prompt 11.');
    await lead.close();
    const next = scriptedModel(answers('Answer 12.', 200));
    const again = await leadHarness({
      model: next,
      store,
      clock,
      staysIdle: true,
      contextWindow: WINDOW,
      choice: { kind: 'resume', id: lead.id },
    });
    await again.say('Prompt 12.');
    const before = unmarked(model.requests.at(-1)?.body ?? '').slice(0, -2);
    expect(unmarked(next.requests[0]?.body ?? '').startsWith(before)).toBe(true);
  });

  test('continues without a summary if the summary fails, and stops trying after three failures', async () => {
    const rounds = [1, 2, 3].flatMap(() => [[fails('overloaded')], answers('Still.', 8_400)]);
    const { model, say, items, lead } = await afterTen(8_400, [
      ...rounds,
      answers('Still.', 8_400),
    ]);
    for (const text of ['a', 'b', 'c', 'd']) await say(text);
    expect(model.requests).toHaveLength(10 + 7);
    expect(
      notices(items).filter((it) => it.startsWith('The conversation was not compacted')),
    ).toHaveLength(3);
    expect(lead.journal.history.messages).toHaveLength(28);
  });

  test('treats a tool call instead of a summary as no summary', async () => {
    const { callLog, items, say } = await afterTen(8_400, [
      [calls('c', 'Change', { name: 'sneaky' })],
      answers('Answer 11.', 1),
    ]);
    await say('Prompt 11.');
    expect(callLog).toEqual([]);
    expect(notices(items)).toContain(
      'The conversation was not compacted: the model gave no summary.',
    );
  });

  test('stops the compaction on an interrupt and keeps all messages', async () => {
    const never = gate();
    const { say, lead, items } = await afterTen(8_400, [[waits(never.opened)]]);
    await say('Prompt 11.');
    expect(lead.state).toBe('compacting');
    lead.interrupt();
    await settled();
    expect(lead.state).toBe('idle');
    expect(items.at(-1)).toMatchObject({ type: 'run.ended', stop: { reason: 'interrupted' } });
    expect(lead.journal.history.messages).toHaveLength(21);
  });
});

describe('a compaction on request', () => {
  test('summarises an idle conversation with the instructions of the person', async () => {
    const { lead, model, say } = await afterTen(100, [
      answers('All about geese.', 100),
      answers('Answer 11.', 100),
    ]);
    await expect(lead.compact('the geese')).resolves.toMatch(/^Summarised 8 older messages/);
    expect(bodyOf(model.requests.at(-1)).messages.at(-1)?.content[0]?.text).toMatch(
      /for this summary: the geese$/,
    );
    expect(lead.state).toBe('idle');
    await say('Prompt 11.');
    const [first] = bodyOf(model.requests.at(-1)).messages;
    expect(first?.content.map(({ text }) => text?.slice(-16))).toEqual([
      expect.any(String),
      'Prompt 5.',
    ]);
  });

  test('rejects with the reason if no summary is made', async () => {
    const hello = [says('Hello.')];
    const model = scriptedModel(hello, hello, hello, [fails('overloaded')]);
    const { lead, items, say } = await leadHarness({ model, staysIdle: true });
    const tooLittle = 'There is too little to summarise yet.';
    await expect(lead.compact('')).rejects.toThrow(tooLittle);
    await say('Hi.');
    await expect(lead.compact('')).rejects.toThrow(tooLittle);
    await say('Honk. '.repeat(200));
    await say('And now?');
    await expect(lead.compact('')).rejects.toThrow('It was overloaded.');
    expect(notices(items)).toEqual([]);
    expect(lead.state).toBe('idle');
  });

  test('is rejected while the agent runs, and so is a clear', async () => {
    const release = gate();
    const model = scriptedModel([waits(release.opened), says('Done.')]);
    const harness = await leadHarness({ model, staysIdle: true });
    await harness.say('Go.');
    await expect(harness.lead.compact('')).rejects.toThrow('The agent is running');
    expect(() => harness.lead.clear()).toThrow('The agent is running');
    release.open();
    await settled();
  });

  test('lets a prompt that arrives meanwhile be answered afterwards', async () => {
    const release = gate();
    const { lead, model, say } = await afterTen(100, [
      [waits(release.opened), says('Summary.')],
      answers('Answer 11.', 100),
    ]);
    const compacted = lead.compact('');
    await say('Prompt 11.');
    expect(lead.state).toBe('compacting');
    release.open();
    await compacted;
    await settled();
    expect(bodyOf(model.requests.at(-1)).messages.at(-1)?.content[0]?.text).toBe('Prompt 11.');
    expect(lead.isIdle).toBe(true);
  });

  test('can be interrupted', async () => {
    const never = gate();
    const { lead, say } = await afterTen(100, [[waits(never.opened)], answers('Answer 11.', 100)]);
    const compacted = lead.compact('');
    await settled();
    lead.interrupt();
    await expect(compacted).rejects.toThrow('cancelled');
    expect(lead.state).toBe('idle');
    await say('Prompt 11.');
    expect(lead.journal.history.messages).toHaveLength(22);
  });

  test('can be replaced by a clear, which starts a new conversation in the session', async () => {
    const { lead, model, say, records } = await afterTen(100, [answers('Who are you?', 100)]);
    lead.clear();
    await say('Hello again.');
    expect(bodyOf(model.requests.at(-1)).messages).toMatchObject([
      { role: 'user', content: [{ text: 'Hello again.' }] },
    ]);
    expect(await records()).toContainEqual(
      expect.objectContaining({ type: 'prompt.broken', reason: 'clear' }),
    );
    expect(lead.journal.history.firstPrompt).toBe('Hello again.');
  });

  test('works after an interrupt that left results unsent', async () => {
    const never = gate();
    const model = scriptedModel(
      ...tenExchanges(100),
      [calls('c', 'Change', { name: 'slow' })],
      [says('Summary.')],
      [says('On we go.')],
    );
    const effects = { slow: async () => ({ content: String(await never.opened) }) };
    const harness = await leadHarness({ model, staysIdle: true, effects });
    for (let number = 1; number <= 10; number += 1) await harness.say(`Prompt ${number}.`);
    await harness.say('Change it.');
    harness.lead.interrupt();
    never.open();
    await settled();
    await harness.lead.compact('');
    await harness.say('Go on.');
    const { messages } = bodyOf(model.requests.at(-1));
    expect(messages.at(-2)?.content[0]?.type).toBe('tool_use');
    expect(messages.at(-1)?.content.map(({ type }) => type)).toEqual(['tool_result', 'text']);
  });
});
