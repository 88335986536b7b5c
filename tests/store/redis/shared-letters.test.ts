/** Several processes share letters in Redis, and some of them, or Redis itself, are killed. */
import { expect, onTestFinished, test } from 'vitest';
import type { Inbox } from '../../../src/protocol/mailbox.js';
import { swarmKeys } from '../../../src/store/redis/redis-keys.js';
import { RedisMailbox } from '../../../src/store/redis/redis-mailbox.js';
import { redisBroker } from '../../fakes/redis-server.js';
import { needs } from '../../setup/needs.js';
import { bundled, startWorker, type Worker } from '../child-program.js';

const never = new AbortController().signal;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const next = async (inbox: Inbox) => (await inbox.next(never))?.id ?? 'closed';

const setUp = async () => {
  const broker = await redisBroker();
  const box = new RedisMailbox(broker, 's_1', 'here');
  onTestFinished(() => box.close());
  const program = await bundled('exchange-redis-letters');
  const start = async (): Promise<Worker> => {
    const worker = startWorker(program, broker.server.url);
    await worker.answer();
    return worker;
  };
  const waiting = () => broker.call('XLEN', swarmKeys('s_1').mail('bob'));
  return { broker, server: broker.server, box, start, waiting };
};

needs.describe('redis')('processes that share letters in Redis', () => {
  test('lose none of a sender that is killed, whose sending it has heard of', async () => {
    const { box, start } = await setUp();
    const sender = await start();
    sender.tell('send x 900');
    const sent = [await sender.answer(), await sender.answer(), await sender.answer()];
    await sender.kill();
    await box.send({ id: 'last', from: 'ann', to: 'bob', sentAt: 1, body: null });
    const inbox = await box.open('bob');
    const given: string[] = [];
    for (let id = await next(inbox); id !== 'last'; id = await next(inbox)) given.push(id);
    expect(given).toEqual(numbers(given.length).map((number) => `x_${number}`));
    expect(given.slice(0, 3)).toEqual(sent);
    expect(await box.deadLetters()).toEqual([]);
  });

  test('are given again what a reader had not acknowledged when it was killed', async () => {
    const { box, start } = await setUp();
    const sender = await start();
    sender.tell('send x 5');
    for (const number of numbers(5)) expect(await sender.answer()).toBe(`x_${number}`);
    const reader = await start();
    reader.tell('read 4 2');
    expect(JSON.parse(await reader.answer())).toEqual(['x_1', 'x_2', 'x_3', 'x_4']);
    await reader.kill();
    const inbox = await box.open('bob');
    expect([await next(inbox), await next(inbox), await next(inbox)]).toEqual([
      ...['x_3', 'x_4', 'x_5'],
    ]);
  });

  test('get a thousand letters of three senders once and in order, though Redis is killed thrice', async () => {
    const { server, box, start, waiting } = await setUp();
    let inbox = await box.open('bob');
    const nextOfAnother = async () => {
      await inbox.close();
      inbox = await box.open('bob');
      return next(inbox);
    };
    const many = { x: 333, y: 333, z: 334 };
    const senders = await Promise.all(numbers(3).map(start));
    for (const [at, [from, count]] of Object.entries(many).entries()) {
      senders[at]?.tell(`send ${from} ${count}`);
    }
    const acknowledged = new Set<string>();
    const kills = new Map([
      [150, 'SIGKILL'],
      [400, 'SIGKILL'],
      [700, 'SIGTERM'],
    ] as const);
    let back: Promise<void> = Promise.resolve();
    while (acknowledged.size < 1_000) {
      const id = await next(inbox);
      expect(acknowledged).not.toContain(id);
      const signal = kills.get(acknowledged.size as 150);
      // With letters, and what is said about them, on their way in all directions.
      if (signal !== undefined) back = back.then(() => server.kill(signal)).then(server.start);
      // Now and then there is another reader, who is given it again.
      expect(acknowledged.size % 100 === 99 ? await nextOfAnother() : id).toBe(id);
      await inbox.acknowledge(id);
      acknowledged.add(id);
    }
    await back;
    for (const [from, count] of Object.entries(many)) {
      const ofSender = [...acknowledged].filter((id) => id.startsWith(from));
      expect(ofSender).toEqual(numbers(count).map((number) => `${from}_${number}`));
    }
    expect(await waiting()).toBe(0);
    expect(await box.deadLetters()).toEqual([]);
  });
});
