import { describe, expect, onTestFinished, test } from 'vitest';
import { openCommandServer } from '../../../src/actors/session/command-server.js';
import { COMMAND_ADDRESS, type CommandReply } from '../../../src/protocol/agent/swarm-command.js';
import type { MailLetter } from '../../../src/protocol/session/mailbox.js';
import { MemoryMailbox } from '../../../src/store/memory/memory-mailbox.js';
import { countedIds } from '../../fakes/counted-ids.js';
import { virtualClock } from '../../fakes/virtual-clock.js';

/** Command server with a scripted swarm control, and a mailbox for commands and replies. */
const serverHarness = async () => {
  const [mailbox, clock] = [new MemoryMailbox(), virtualClock()];
  const done: string[] = [];
  let release: (reply: CommandReply) => void = () => {};
  const says = (sentence: string) => {
    done.push(sentence);
    return { ok: true, sentence, agent: 'a_1' };
  };
  const control = {
    send: async (agent: string, text: string, from: string, letter: string) =>
      says(`${from} to ${agent}: ${text} (${letter})`),
    stop: (agent: string) => {
      done.push(`stop ${agent}`);
      return new Promise<CommandReply>((resolve) => {
        release = resolve;
      });
    },
    resume: async (agent: string) => {
      done.push(`resume ${agent}`);
      throw new Error('no such luck');
    },
  };
  const notices: string[] = [];
  const notice = (sentence: string) => void notices.push(sentence);
  const server = openCommandServer({ mailbox, control, clock, ids: countedIds(), notice });
  onTestFinished(() => server.close());
  const replies = await mailbox.open('me');
  const write = (id: string, body: unknown, more: Partial<MailLetter> = {}) =>
    mailbox.send({ id, from: 'me', to: COMMAND_ADDRESS, sentAt: clock.now(), body, ...more });
  const reply = async () => {
    const letter = await replies.next(AbortSignal.timeout(5_000));
    if (letter !== undefined) await replies.acknowledge(letter.id);
    return letter?.body as { readonly command: string; readonly reply: CommandReply } | undefined;
  };
  return {
    mailbox,
    clock,
    server,
    done,
    notices,
    write,
    reply,
    release: () => release(says('over')),
  };
};

const SEND = { type: 'send', agent: 'lead', text: 'hello' };

describe('the command server', () => {
  test('carries out a command and replies to its sender', async () => {
    const { done, write, reply } = await serverHarness();
    await write('l_1', SEND);
    expect(await reply()).toMatchObject({ command: 'l_1', reply: { ok: true } });
    expect(done).toEqual(['user to lead: hello (l_1)']);
  });

  test('carries out a repeated letter once, and replies again', async () => {
    const { done, write, reply } = await serverHarness();
    await write('l_1', SEND);
    const first = await reply();
    await write('l_1', SEND);
    expect(await reply()).toEqual(first);
    expect(done).toHaveLength(1);
  });

  test.each<[string, unknown, Partial<MailLetter>, RegExp]>([
    ['is not a command', { type: 'erase' }, {}, /cannot be read/],
    ['has no body', null, {}, /cannot be read/],
    ['is too old', SEND, { sentAt: 0 }, /too old/],
    ['comes from the future', SEND, { sentAt: 9e15 }, /too old/],
  ])('moves a letter that %s to the dead letters, and continues', async (_, body, more, why) => {
    const { mailbox, done, write, reply } = await serverHarness();
    await write('l_1', body, more);
    await write('l_2', SEND);
    await untilSecondReply(reply);
    expect(done).toHaveLength(1);
    expect(await mailbox.deadLetters()).toMatchObject([
      { id: 'l_1', reason: expect.stringMatching(why) as unknown },
    ]);
  });

  test('accepts commands while another command runs, and finishes it before it closes', async () => {
    const { server, done, write, reply, release } = await serverHarness();
    await write('l_1', { type: 'stop', agent: 'a_1' });
    await write('l_2', SEND);
    expect(await reply()).toMatchObject({ command: 'l_2' });
    const closed = server.close();
    release();
    await closed;
    expect(done.at(-1)).toBe('over');
    expect(await reply()).toMatchObject({ command: 'l_1', reply: { sentence: 'over' } });
  });

  test('replies with the reason if a command fails', async () => {
    const { notices, write, reply } = await serverHarness();
    await write('l_1', { type: 'resume', agent: 'a_1' });
    expect((await reply())?.reply).toEqual({
      ok: false,
      sentence: 'The command failed: no such luck',
      agent: 'a_1',
    });
    expect(notices).toEqual([]);
  });
});

/** Reads replies until the reply to `l_2`. */
const untilSecondReply = async (reply: () => Promise<{ readonly command: string } | undefined>) => {
  for (;;) if ((await reply())?.command === 'l_2') return;
};
