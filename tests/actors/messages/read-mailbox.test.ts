import { describe, expect, test } from 'vitest';
import { readMailbox } from '../../../src/actors/messages/read-mailbox.js';
import type { AgentMail } from '../../../src/protocol/agent/agent-mail.js';
import type { Inbox, MailLetter } from '../../../src/protocol/session/mailbox.js';
import { UsageError } from '../../../src/protocol/skein-error.js';

const ended = (agent: string) => ({ type: 'ended', agent, run: 1 });
const HELLO = '[{"type":"text","text":"Hello"}]';
const words = (letter: string, raw = HELLO) => ({ type: 'letter', letter, from: 'a_1', raw });

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
const slowly = () => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const receive = (mail: AgentMail) => {
    const name = mail.type === 'ended' ? mail.agent : mail.type;
    begun.push(name);
    return new Promise<void>((resolve) => ends.set(name, resolve));
  };
  return { begun, receive, end: (name: string) => ends.get(name)?.() };
};

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('what comes for an agent', () => {
  test('is taken in side by side where it tells of ends, and else alone', async () => {
    const { inbox, notes } = inboxWith(ended('a_1'), ended('a_2'), words('x'), ended('a_3'));
    const { begun, receive, end } = slowly();
    const over = new AbortController();
    const reading = readMailbox(inbox, receive, over.signal);
    await settled();
    expect(begun).toEqual(['a_1', 'a_2']);
    end('a_2');
    await settled();
    expect(notes).toEqual(['l1 acknowledged']);
    expect(begun).toEqual(['a_1', 'a_2']);
    end('a_1');
    await settled();
    expect(begun).toEqual(['a_1', 'a_2', 'letter']);
    end('letter');
    await settled();
    expect(begun).toEqual(['a_1', 'a_2', 'letter', 'a_3']);
    over.abort();
    end('a_3');
    await reading;
    expect(notes).toEqual(['l1', 'l0', 'l2', 'l3'].map((id) => `${id} acknowledged`));
  });

  test('is buried with the reason where it cannot be taken in', async () => {
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
    ['nothing', ''],
    ['no JSON', '{bad'],
    ['no list', '{"type":"text","text":"x"}'],
    ['no blocks', '[]'],
    ['words that are no blocks', '["x"]'],
    ['what a tool said', '[{"type":"tool_result","tool_use_id":"x","content":"y"}]'],
    ['an image', '[{"type":"image","source":{"type":"url","url":"https://x.example"}}]'],
    ['a block without words', '[{"type":"text","text":" \\n"}]'],
    ['a block with more in it', '[{"type":"text","text":"x","cache_control":null}]'],
    ['a block that is written otherwise', '[{"type": "text", "text": "x"}]'],
    ['a block whose key comes twice', '[{"type":"text","text":"x","text":"x"}]'],
    ['half a character', '[{"type":"text","text":"\\ud800"}]'],
    ['more after its end', `${HELLO},"seq":7`],
    ['another line', `${HELLO}\n{"v":1}`],
    ['a list without end', '['.repeat(50_000)],
  ])('is buried where a letter is made of %s', async (_, raw) => {
    const { inbox, notes } = inboxWith(words('x', raw), words('y'));
    const over = new AbortController();
    const heard: AgentMail[] = [];
    const reading = readMailbox(inbox, async (mail) => void heard.push(mail), over.signal);
    await settled();
    over.abort();
    await reading;
    expect(notes).toEqual([
      'l0 buried: The letter holds other content than text blocks.',
      'l1 acknowledged',
    ]);
    expect(heard).toEqual([words('y')]);
  });

  test('may be made of several blocks, and of any characters', async () => {
    const texts = ['\u2028 "\\ \0 🦢', 'x'.repeat(100_000)];
    const raw = JSON.stringify(texts.map((text) => ({ type: 'text', text })));
    const { inbox, notes } = inboxWith(words('x', raw));
    const over = new AbortController();
    const reading = readMailbox(inbox, async () => {}, over.signal);
    await settled();
    over.abort();
    await reading;
    expect(notes).toEqual(['l0 acknowledged']);
  });

  test('is read no further after a defect, which is thrown', async () => {
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
