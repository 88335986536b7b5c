/** Law 1: each request's prompt is a byte extension of the one before, or the break is declared. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstBreak, promptOf } from './prompts.js';
import { makePlace, type Place } from './workspace.js';

const script = {
  rules: [
    {
      match: { turn: { max: 7 } },
      reply: {
        thinking: 'Let me see {{turn}}.',
        text: 'Line one.\nÄöü 🪿 "quoted" \\ {{turn}}',
        tool_use: [
          { name: 'Read', input: { file_path: 'a.txt', offset: 1 } },
          { name: 'Nothing', input: { '2': 'b', '10': 'a', x: { '1': [1.0, 1e21, -0] } } },
        ],
      },
    },
    { reply: 'Done.' },
  ],
};

const NO = { name: 'No', input: {} };

describe('law 1, append-only prompt', () => {
  let place: Place;
  beforeAll(async () => {
    place = await makePlace(script, { 'a.txt': 'tab\there\r\nü🪿\u2028x\n' });
  });
  afterAll(() => place.close());

  test('every request extends the one before it', async () => {
    const { code } = await place.run(['Look at it.', '--session-id', 'long']);
    expect(code).toBe(0);
    expect(place.bodies()).toHaveLength(9);
    expect(firstBreak(place.bodies())).toBeUndefined();
  });

  test('a change of model is a declared break, and the prompt goes on all the same', async () => {
    const before = place.bodies().length;
    await place.run(['Again.', '--resume', 'long', '--model', 'opus']);
    expect(place.bodies().length).toBeGreaterThan(before);
    expect(firstBreak(place.bodies())).toBeUndefined();
    const breaks = place.journal('long').filter(({ type }) => type === 'prompt.broken');
    expect(breaks).toMatchObject([
      { reason: 'model', section: 'model claude-sonnet-5-5 → claude-opus-5-5' },
    ]);
  });

  test('a prompt that had to be cut says so in the journal', async () => {
    const tooLong = { status: 400, message: 'prompt is too long: 210 tokens > 200 maximum' };
    const cut = await makePlace({
      rules: [
        { match: { firstUser: 'Earlier turns' }, reply: 'Fits.' },
        { match: { turn: { max: 3 } }, reply: { thinking: 'Hm.', tool_use: [NO] } },
        { reply: { error: tooLong } },
      ],
    });
    const { code } = await cut.run(['Go.', '--session-id', 'cut']);
    const journal = cut.journal('cut');
    await cut.close();
    expect(code).toBe(0);
    expect(firstBreak(cut.bodies())).toBeDefined();
    expect(journal.filter(({ type }) => type === 'prompt.broken')).toMatchObject([
      { reason: 'truncation', section: 'messages' },
    ]);
  });

  test('catches a single byte that changed', () => {
    const bodies = place.bodies();
    const planted = bodies.map((body, index) =>
      index === 4 ? Buffer.from(body.toString().replace('Line one', 'Line two')) : body,
    );
    expect(firstBreak(planted)).toContain('request 4 leaves the prompt of request 3');
  });

  test('catches a system prompt that says what time it is', () => {
    const [first, second] = place.bodies();
    const planted = second?.toString().replace('Platform:', 'Time: 12:00 Platform:') ?? '';
    expect(firstBreak([first as Buffer, Buffer.from(planted)])).toContain('request 1');
  });

  test('compares prompts without their cache marks', () => {
    expect(place.bodies().every((body) => body.includes('cache_control'))).toBe(true);
    expect(place.bodies().some((body) => promptOf(body).includes('cache_control'))).toBe(false);
  });
});
