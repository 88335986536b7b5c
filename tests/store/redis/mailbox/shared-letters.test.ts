/** Several processes share letters in Redis, and some of them, or Redis itself, are killed. */
import { expect, onTestFinished, test } from 'vitest';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { RedisMailbox } from '../../../../src/store/redis/mailbox/redis-mailbox.js';
import { ownRedisBroker } from '../../../fakes/redis/own-redis-server.js';
import {
  type RedisBroker,
  type RedisPlace,
  redisBroker,
} from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { bundled, numbers, startWorker, type Worker } from '../../child-program.js';
import { nextOf, testSharedMailbox } from '../../contracts/shared-mailbox.js';

const setUpAt = async <Server extends RedisPlace>(broker: RedisBroker<Server>) => {
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
const setUp = async () => setUpAt(await redisBroker());
const setUpOwn = async () => setUpAt(await ownRedisBroker());

needs.describe('redis')('processes that share letters in Redis', () => {
  testSharedMailbox(setUp);
});

needs.describe('own-redis')('processes that share letters in Redis', () => {
  test('get a thousand letters of three senders once and in order, though Redis is killed thrice', async () => {
    const { server, box, start, waiting } = await setUpOwn();
    let inbox = await box.open('bob');
    const nextOfAnother = async () => {
      await inbox.close();
      inbox = await box.open('bob');
      return nextOf(inbox);
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
      const id = await nextOf(inbox);
      expect(acknowledged).not.toContain(id);
      const signal = kills.get(acknowledged.size as 150);
      // While letters and results are in transit in all directions.
      if (signal !== undefined) back = back.then(() => server.kill(signal)).then(server.start);
      // At times there is another reader, and it receives the letter again.
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
