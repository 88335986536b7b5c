/** Commands while two processes own a session one after the other (law 8). */
import { expect, onTestFinished, test } from 'vitest';
import {
  type CommandServer,
  openCommandServer,
} from '../../../src/actors/session/command-server.js';
import { COMMAND_ADDRESS, type CommandReply } from '../../../src/protocol/agent/swarm-command.js';
import { systemClock } from '../../../src/protocol/clock.js';
import { randomIds } from '../../../src/protocol/ids.js';
import type { Fence, Inbox } from '../../../src/protocol/session/mailbox.js';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { WriteScopes } from '../../../src/store/redis/leases/write-scopes.js';
import { RedisMailbox } from '../../../src/store/redis/mailbox/redis-mailbox.js';
import { redisBroker } from '../../fakes/redis/redis-server.js';
import { needs } from '../../setup/needs.js';

const never = new AbortController().signal;

/** A process that can own the swarm, and the commands that its server has started. */
const processOf = async (url: string, pid: number) => {
  const broker = await connectRedis(url);
  const keeper = new WriteScopes(broker, { marker: `m-${pid}`, pid });
  const mailbox = new RedisMailbox(broker, 's_1', `p-${pid}`);
  const desks: CommandServer[] = [];
  onTestFinished(async () => {
    for (const permissions of desks) await permissions.close();
    await mailbox.close();
    keeper.close();
    await broker.close();
  });
  const begun: string[] = [];
  const notices: string[] = [];
  let isSlow = false;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const carryOut = async (what: string): Promise<CommandReply> => {
    begun.push(what);
    if (isSlow) await held;
    return { ok: true, sentence: `${what}, says ${pid}`, agent: 'a_0' };
  };
  const control = {
    send: (_agent: string, text: string) => carryOut(text),
    stop: () => carryOut('stop'),
    resume: () => carryOut('resume'),
  };
  return {
    mailbox,
    begun,
    notices,
    async lead(): Promise<Fence> {
      const { name, claim } = await keeper.adopt('s_1', 'lead');
      return { scope: name, claim };
    },
    /** Blocks commands that start from now on until the returned function is called. */
    slowDown() {
      isSlow = true;
      return release;
    },
    open(fence: Fence) {
      const permissions = openCommandServer({
        mailbox,
        fence,
        control,
        clock: systemClock,
        ids: randomIds,
        notice: (sentence) => notices.push(sentence),
      });
      desks.push(permissions);
      return permissions;
    },
  };
};

const scene = async () => {
  const { server } = await redisBroker();
  const [zombie, heir] = [await processOf(server.url, 1), await processOf(server.url, 2)];
  const broker = await connectRedis(server.url);
  onTestFinished(() => broker.close());
  const person = new RedisMailbox(broker, 's_1', 'person');
  onTestFinished(() => person.close());
  const replies = await person.open('me');
  const command = (id: string, text: string) =>
    person.send({
      id,
      from: 'me',
      to: COMMAND_ADDRESS,
      sentAt: systemClock.now(),
      body: { type: 'send', agent: 'lead', text },
    });
  return { zombie, heir, command, reply: () => replyIn(replies) };
};

const replyIn = async (inbox: Inbox): Promise<string> => {
  const { id, body } = (await inbox.next(never)) ?? { id: '', body: undefined };
  await inbox.acknowledge(id);
  return (body as { readonly reply: CommandReply }).reply.sentence;
};

needs.describe('redis')('commands for a lead that another has taken over from', () => {
  test('are for the new one, also before that one takes any', async () => {
    const { zombie, heir, command, reply } = await scene();
    const old = await zombie.lead();
    zombie.open(old);
    await command('l_1', 'one');
    expect(await reply()).toBe('one, says 1');
    const fence = await heir.lead();
    await command('l_2', 'two');
    // The server has stopped reading: otherwise a second reader would be refused.
    const again = () => zombie.mailbox.open(COMMAND_ADDRESS, old).catch(String);
    await expect.poll(again, { timeout: 20_000 }).toMatch(/has taken over commands/);
    heir.open(fence);
    expect(await reply()).toBe('two, says 2');
    expect(zombie.begun).toEqual(['one']);
    expect(zombie.notices).toEqual([]);
  });

  test('are not taken by one that only now begins to', async () => {
    const { zombie, heir, command, reply } = await scene();
    const old = await zombie.lead();
    heir.open(await heir.lead());
    await command('l_1', 'one');
    expect(await reply()).toBe('one, says 2');
    zombie.open(old);
    // The commands that it has read before are answered then.
    await zombie.mailbox.deadLetters();
    await command('l_2', 'two');
    expect(await reply()).toBe('two, says 2');
    expect(zombie.begun).toEqual([]);
  });

  test('are answered by the new one where the old one had begun', async () => {
    const { zombie, heir, command, reply } = await scene();
    const release = zombie.slowDown();
    const permissions = zombie.open(await zombie.lead());
    await command('l_1', 'one');
    await expect.poll(() => zombie.begun).toEqual(['one']);
    const fence = await heir.lead();
    release();
    await permissions.close();
    heir.open(fence);
    expect(await reply()).toBe('one, says 2');
  });
});
