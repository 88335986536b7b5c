import { describe, expect, test } from 'vitest';
import { readMailbox } from '../../../src/actors/messages/read-mailbox.js';
import type { AgentMail } from '../../../src/protocol/agent/agent-mail.js';
import type { Inbox, MailLetter } from '../../../src/protocol/session/mailbox.js';
import { UsageError } from '../../../src/protocol/skein-error.js';

const ended = (agent: string) => ({ type: 'ended', agent, run: 1 });
const HELLO = '[{"type":"text","text":"Hello"}]';
const letterMail = (letter: string, raw = HELLO) => ({ type: 'letter', letter, from: 'a_1', raw });

/** Inbox with these letters that then waits for the signal and records their outcome. */
const inboxWith = (...bodies: readonly unknown[]) => {
  const notes: string[] = [];
  const letters = bodies.map(
    (body, at): MailLetter => ({ id: `l${at}`, from: 'w', to: 'a_0', sentAt: 0, body }),
  );
  const inbox: Inbox = {
    async next(signal) {
      const letter = letters.shift();
      if (letter !== undefined || signal.aborted) return letter;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return undefined;
    },
    acknowledge: async (id) => void notes.push(`${id} acknowledged`),
    moveToDeadLetters: async (id, reason) => void notes.push(`${id} buried: ${reason}`),
    close: async () => {},
  };
  return { inbox, notes };
};

/** Receives a letter when the test allows it. */
const heldReceiver = () => {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const receive = (mail: AgentMail) => {
    const name = mail.type === 'ended' ? mail.agent : mail.type;
    started.push(name);
    return new Promise<void>((resolve) => ends.set(name, resolve));
  };
  return { started, receive, end: (name: string) => ends.get(name)?.() };
};

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('readMailbox', () => {
  test('processes reports of ended agents concurrently, and all other letters alone', async () => {
    const { inbox, notes } = inboxWith(ended('a_1'), ended('a_2'), letterMail('x'), ended('a_3'));
    const { started, receive, end } = heldReceiver();
    const over = new AbortController();
    const reading = readMailbox(inbox, receive, over.signal);
    await settled();
    expect(started).toEqual(['a_1', 'a_2']);
    end('a_2');
    await settled();
    expect(notes).toEqual(['l1 acknowledged']);
    expect(started).toEqual(['a_1', 'a_2']);
    end('a_1');
    await settled();
    expect(started).toEqual(['a_1', 'a_2', 'letter']);
    end('letter');
    await settled();
    expect(started).toEqual(['a_1', 'a_2', 'letter', 'a_3']);
    over.abort();
    end('a_3');
    await reading;
    expect(notes).toEqual(['l1', 'l0', 'l2', 'l3'].map((id) => `${id} acknowledged`));
  });

  test('moves a letter that cannot be processed to the dead letters, with the reason', async () => {
    const { inbox, notes } = inboxWith({ type: 'nonsense' }, ended('a_1'));
    const over = new AbortController();
    const refuse = async () => {
      throw new UsageError('It is about nobody.');
    };
    const reading = readMailbox(inbox, refuse, over.signal);
    await settled();
    over.abort();
    await reading;
    expect(notes).toEqual([
      'l0 buried: The letter is not a valid message between agents.',
      'l1 buried: It is about nobody.',
    ]);
  });

  test.each([
    ['an empty text', ''],
    ['invalid JSON', '{bad'],
    ['an object instead of a list', '{"type":"text","text":"x"}'],
    ['an empty list', '[]'],
    ['a string instead of a block', '["x"]'],
    ['a tool result', '[{"type":"tool_result","tool_use_id":"x","content":"y"}]'],
    ['an image', '[{"type":"image","source":{"type":"url","url":"https://x.example"}}]'],
    ['a blank block', '[{"type":"text","text":" \\n"}]'],
    ['a block with another key', '[{"type":"text","text":"x","cache_control":null}]'],
    ['a block with other formatting', '[{"type": "text", "text": "x"}]'],
    ['a block with a duplicate key', '[{"type":"text","text":"x","text":"x"}]'],
    ['half a surrogate pair', '[{"type":"text","text":"\\ud800"}]'],
    ['trailing content', `${HELLO},"seq":7`],
    ['a second line', `${HELLO}\n{"v":1}`],
    ['unclosed lists', '['.repeat(50_000)],
  ])('moves a letter with %s to the dead letters', async (_, raw) => {
    const { inbox, notes } = inboxWith(letterMail('x', raw), letterMail('y'));
    const over = new AbortController();
    const received: AgentMail[] = [];
    const reading = readMailbox(inbox, async (mail) => void received.push(mail), over.signal);
    await settled();
    over.abort();
    await reading;
    expect(notes).toEqual([
      'l0 buried: The letter holds other content than text blocks.',
      'l1 acknowledged',
    ]);
    expect(received).toEqual([letterMail('y')]);
  });

  test('accepts several blocks and any characters', async () => {
    const texts = ['\u2028 "\\ \0 🦢', 'x'.repeat(100_000)];
    const raw = JSON.stringify(texts.map((text) => ({ type: 'text', text })));
    const { inbox, notes } = inboxWith(letterMail('x', raw));
    const over = new AbortController();
    const reading = readMailbox(inbox, async () => {}, over.signal);
    await settled();
    over.abort();
    await reading;
    expect(notes).toEqual(['l0 acknowledged']);
  });

  test('stops and rejects if the receiver throws an unexpected error', async () => {
    const { inbox, notes } = inboxWith(ended('a_1'));
    const fail = async () => {
      throw new TypeError('a defect');
    };
    await expect(readMailbox(inbox, fail, new AbortController().signal)).rejects.toThrow(
      'a defect',
    );
    expect(notes).toEqual([]);
  });
});
