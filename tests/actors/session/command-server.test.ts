import { describe, expect, onTestFinished, test } from 'vitest';
import { openCommandServer } from '../../../src/actors/session/command-server.js';
import { COMMAND_ADDRESS, type CommandReply } from '../../../src/protocol/agent/swarm-command.js';
import type { MailLetter } from '../../../src/protocol/session/mailbox.js';
import { MemoryMailbox } from '../../../src/store/memory/memory-mailbox.js';
import { countedIds } from '../../fakes/counted-ids.js';
import { virtualClock } from '../../fakes/virtual-clock.js';

/** A command server, the swarm that it controls, and a mailbox to write to it and read replies. */
const deskInHand = async () => {
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
  const permissions = openCommandServer({ mailbox, control, clock, ids: countedIds(), notice });
  onTestFinished(() => permissions.close());
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
    desk: permissions,
    done,
    notices,
    write,
    reply,
    release: () => release(says('over')),
  };
};

const SEND = { type: 'send', agent: 'lead', text: 'hello' };

describe('the command desk', () => {
  test('carries a command out and answers whoever gave it', async () => {
    const { done, write, reply } = await deskInHand();
    await write('l_1', SEND);
    expect(await reply()).toMatchObject({ command: 'l_1', reply: { ok: true } });
    expect(done).toEqual(['user to lead: hello (l_1)']);
  });

  test('carries a letter that comes twice out once, and answers it again', async () => {
    const { done, write, reply } = await deskInHand();
    await write('l_1', SEND);
    const first = await reply();
    await write('l_1', SEND);
    expect(await reply()).toEqual(first);
    expect(done).toHaveLength(1);
  });

  test.each<[string, unknown, Partial<MailLetter>, RegExp]>([
    ['is no command', { type: 'erase' }, {}, /cannot be read/],
    ['has no body', null, {}, /cannot be read/],
    ['nobody waits for any more', SEND, { sentAt: 0 }, /too old/],
    ['comes from the future', SEND, { sentAt: 9e15 }, /too old/],
  ])('buries a letter that %s, and goes on', async (_, body, more, why) => {
    const { mailbox, done, write, reply } = await deskInHand();
    await write('l_1', body, more);
    await write('l_2', SEND);
    await eventuallyTwo(reply);
    expect(done).toHaveLength(1);
    expect(await mailbox.deadLetters()).toMatchObject([
      { id: 'l_1', reason: expect.stringMatching(why) as unknown },
    ]);
  });

  test('takes other commands while one is under way, and ends it before it closes', async () => {
    const { desk: permissions, done, write, reply, release } = await deskInHand();
    await write('l_1', { type: 'stop', agent: 'a_1' });
    await write('l_2', SEND);
    expect(await reply()).toMatchObject({ command: 'l_2' });
    const closed = permissions.close();
    release();
    await closed;
    expect(done.at(-1)).toBe('over');
    expect(await reply()).toMatchObject({ command: 'l_1', reply: { sentence: 'over' } });
  });

  test('replies with the reason when a command fails', async () => {
    const { notices, write, reply } = await deskInHand();
    await write('l_1', { type: 'resume', agent: 'a_1' });
    expect((await reply())?.reply).toEqual({
      ok: false,
      sentence: 'The command failed: no such luck',
      agent: 'a_1',
    });
    expect(notices).toEqual([]);
  });
});

/** Letters that are too old are not answered. */
const eventuallyTwo = async (reply: () => Promise<{ readonly command: string } | undefined>) => {
  for (;;) if ((await reply())?.command === 'l_2') return;
};
