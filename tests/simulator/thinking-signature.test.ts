import { describe, expect, test } from 'vitest';
import { ASK, post, simulate } from './raw-client.js';

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });

/** Sends two requests; the test builds the second. */
const answeredTwice = async (change: (request: typeof ASK) => object) => {
  const simulator = await simulate([{ reply: { thinking: 'Hm.', text: 'Yes.' } }]);
  const first = { ...ASK, system: 'Be a goose.', messages: [user('one'), user('two')] };
  const { content } = (await (await post(simulator, first)).json()) as { content: object[] };
  const messages = [...first.messages, { role: 'assistant', content }, user('three')];
  const response = await post(simulator, change({ ...first, messages } as unknown as typeof ASK));
  return response.status === 200 ? 'taken' : await response.text();
};

describe('a thought that is sent back', () => {
  test('is taken behind the conversation that it came from', async () => {
    expect(await answeredTwice((request) => request)).toBe('taken');
  });

  test('may carry cache breakpoints before it, and go to another model', async () => {
    const [mark, model] = [{ type: 'ephemeral' }, 'claude-haiku-4-5'];
    const marked = { role: 'user', content: [{ type: 'text', text: 'one', cache_control: mark }] };
    const answer = await answeredTwice(({ messages, ...rest }) => {
      return { ...rest, model, messages: [marked, ...messages.slice(1)] };
    });
    expect(answer).toBe('taken');
  });

  test.each([
    ['another message', ({ messages }: typeof ASK) => ({ messages: messages.slice(1) }), 1],
    ['another system prompt', () => ({ system: 'Be a swan.' }), 2],
    ['other tools', () => ({ tools: [{ name: 'Fly', input_schema: { type: 'object' } }] }), 2],
  ])('is refused behind %s', async (_, change, at) => {
    const answer = await answeredTwice((request) => ({ ...request, ...change(request) }));
    expect(answer).toContain(
      `messages.${at}.content.0: Invalid \`signature\` in \`thinking\` block.`,
    );
  });
});
