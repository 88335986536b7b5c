import { describe, expect, test } from 'vitest';
import { ASK, post, simulate } from './raw-client.js';

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });

/** Sends two requests; the test builds the second. */
const sendTwice = async (change: (request: typeof ASK) => object) => {
  const simulator = await simulate([{ reply: { thinking: 'Hm.', text: 'Yes.' } }]);
  const first = { ...ASK, system: 'Be a goose.', messages: [user('one'), user('two')] };
  const { content } = (await (await post(simulator, first)).json()) as { content: object[] };
  const messages = [...first.messages, { role: 'assistant', content }, user('three')];
  const response = await post(simulator, change({ ...first, messages } as unknown as typeof ASK));
  return response.status === 200 ? 'accepted' : await response.text();
};

describe('a thinking block in a later request', () => {
  test('is accepted after the conversation that it comes from', async () => {
    expect(await sendTwice((request) => request)).toBe('accepted');
  });

  test('is accepted with other cache breakpoints before it and with another model', async () => {
    const [mark, model] = [{ type: 'ephemeral' }, 'claude-haiku-4-5'];
    const marked = { role: 'user', content: [{ type: 'text', text: 'one', cache_control: mark }] };
    const answer = await sendTwice(({ messages, ...rest }) => {
      return { ...rest, model, messages: [marked, ...messages.slice(1)] };
    });
    expect(answer).toBe('accepted');
  });

  test.each([
    ['other messages', ({ messages }: typeof ASK) => ({ messages: messages.slice(1) }), 1],
    ['another system prompt', () => ({ system: 'Be a swan.' }), 2],
    ['other tools', () => ({ tools: [{ name: 'Fly', input_schema: { type: 'object' } }] }), 2],
  ])('is rejected after %s', async (_, change, at) => {
    const answer = await sendTwice((request) => ({ ...request, ...change(request) }));
    expect(answer).toContain(
      `messages.${at}.content.0: Invalid \`signature\` in \`thinking\` block.`,
    );
  });
});
