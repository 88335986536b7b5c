/** Commands for a session whose owner process changes (law 8). */
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
import { redisConnections } from '../../fakes/redis/redis-server.js';
import { needs } from '../../setup/needs.js';

const never = new AbortController().signal;

/** Process that can own the swarm, and the commands that its server has started. */
const processOf = async (url: string, pid: number) => {
  const connections = await connectRedis(url);
  const scopes = new WriteScopes(connections, { marker: `m-${pid}`, pid });
  const mailbox = new RedisMailbox(connections, 's_1', `p-${pid}`);
  const servers: CommandServer[] = [];
  onTestFinished(async () => {
    for (const server of servers) await server.close();
    await mailbox.close();
    scopes.close();
    await connections.close();
  });
  const started: string[] = [];
  const notices: string[] = [];
  let isSlow = false;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const carryOut = async (command: string): Promise<CommandReply> => {
    started.push(command);
    if (isSlow) await held;
    return { ok: true, sentence: `${command}, says ${pid}`, agent: 'a_0' };
  };
  const control = {
    send: (_agent: string, text: string) => carryOut(text),
    stop: () => carryOut('stop'),
    resume: () => carryOut('resume'),
  };
  return {
    mailbox,
    started,
    notices,
    async lead(): Promise<Fence> {
      const { name, claim } = await scopes.adopt('s_1', 'lead');
      return { scope: name, claim };
    },
    /** Blocks commands that start from now on until the returned function is called. */
    slowDown() {
      isSlow = true;
      return release;
    },
    open(fence: Fence) {
      const server = openCommandServer({
        mailbox,
        fence,
        control,
        clock: systemClock,
        ids: randomIds,
        notice: (sentence) => notices.push(sentence),
      });
      servers.push(server);
      return server;
    },
  };
};

const scene = async () => {
  const { server } = await redisConnections();
  const [zombie, successor] = [await processOf(server.url, 1), await processOf(server.url, 2)];
  const connections = await connectRedis(server.url);
  onTestFinished(() => connections.close());
  const person = new RedisMailbox(connections, 's_1', 'person');
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
  return { zombie, successor, command, reply: () => replyIn(replies) };
};

const replyIn = async (inbox: Inbox): Promise<string> => {
  const { id, body } = (await inbox.next(never)) ?? { id: '', body: undefined };
  await inbox.acknowledge(id);
  return (body as { readonly reply: CommandReply }).reply.sentence;
};

needs.describe('redis')('commands for a lead whose session another process has taken over', () => {
  test('are carried out by the new owner, even if they arrive before it reads commands', async () => {
    const { zombie, successor, command, reply } = await scene();
    const old = await zombie.lead();
    zombie.open(old);
    await command('l_1', 'one');
    expect(await reply()).toBe('one, says 1');
    const fence = await successor.lead();
    await command('l_2', 'two');
    // The server has stopped reading: otherwise a second reader would be refused.
    const again = () => zombie.mailbox.open(COMMAND_ADDRESS, old).catch(String);
    await expect.poll(again, { timeout: 20_000 }).toMatch(/has taken over commands/);
    successor.open(fence);
    expect(await reply()).toBe('two, says 2');
    expect(zombie.started).toEqual(['one']);
    expect(zombie.notices).toEqual([]);
  });

  test('are not read by an old owner that starts to read late', async () => {
    const { zombie, successor, command, reply } = await scene();
    const old = await zombie.lead();
    successor.open(await successor.lead());
    await command('l_1', 'one');
    expect(await reply()).toBe('one, says 2');
    zombie.open(old);
    // Redis replies in order, so earlier reads of the old owner are answered after this call.
    await zombie.mailbox.deadLetters();
    await command('l_2', 'two');
    expect(await reply()).toBe('two, says 2');
    expect(zombie.started).toEqual([]);
  });

  test('are carried out by the new owner if the old owner has not finished them', async () => {
    const { zombie, successor, command, reply } = await scene();
    const release = zombie.slowDown();
    const server = zombie.open(await zombie.lead());
    await command('l_1', 'one');
    await expect.poll(() => zombie.started).toEqual(['one']);
    const fence = await successor.lead();
    release();
    await server.close();
    successor.open(fence);
    expect(await reply()).toBe('one, says 2');
  });
});
