/** Processes share letters in Redis, and some of the processes or Redis are killed. */
import { expect, onTestFinished, test } from 'vitest';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { RedisMailbox } from '../../../../src/store/redis/mailbox/redis-mailbox.js';
import { ownRedisConnections } from '../../../fakes/redis/own-redis-server.js';
import {
  type RedisEndpoint,
  redisConnections,
  type ServerConnections,
} from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { bundled, numbers, startWorker, type Worker } from '../../child-program.js';
import { nextOf, testSharedMailbox } from '../../contracts/shared-mailbox.js';

const setUpAt = async <Server extends RedisEndpoint>(redis: ServerConnections<Server>) => {
  const box = new RedisMailbox(redis, 's_1', 'here');
  onTestFinished(() => box.close());
  const program = await bundled('exchange-redis-letters');
  const start = async (): Promise<Worker> => {
    const worker = startWorker(program, redis.server.url);
    await worker.answer();
    return worker;
  };
  const waiting = () => redis.call('XLEN', swarmKeys('s_1').mail('bob'));
  return { redis, server: redis.server, box, start, waiting };
};
const setUp = async () => setUpAt(await redisConnections());
const setUpOwn = async () => setUpAt(await ownRedisConnections());

needs.describe('redis')('processes that share letters in Redis', () => {
  testSharedMailbox(setUp);
});

needs.describe('own-redis')('processes that share letters in Redis', () => {
  test('receive 1000 letters of three senders once and in order, although Redis is killed three times', async () => {
    const { server, box, start, waiting } = await setUpOwn();
    let inbox = await box.open('bob');
    const nextOfNewReader = async () => {
      await inbox.close();
      inbox = await box.open('bob');
      return nextOf(inbox);
    };
    const counts = { x: 333, y: 333, z: 334 };
    const senders = await Promise.all(numbers(3).map(start));
    for (const [at, [from, count]] of Object.entries(counts).entries()) {
      senders[at]?.tell(`send ${from} ${count}`);
    }
    const acknowledged = new Set<string>();
    const kills = new Map([
      [150, 'SIGKILL'],
      [400, 'SIGKILL'],
      [700, 'SIGTERM'],
    ] as const);
    let restarted: Promise<void> = Promise.resolve();
    while (acknowledged.size < 1_000) {
      const id = await nextOf(inbox);
      expect(acknowledged).not.toContain(id);
      const signal = kills.get(acknowledged.size as 150);
      // While letters and results are in transit in all directions.
      if (signal !== undefined)
        restarted = restarted.then(() => server.kill(signal)).then(server.start);
      // Every hundredth letter is received again by a new reader.
      expect(acknowledged.size % 100 === 99 ? await nextOfNewReader() : id).toBe(id);
      await inbox.acknowledge(id);
      acknowledged.add(id);
    }
    await restarted;
    for (const [from, count] of Object.entries(counts)) {
      const ofSender = [...acknowledged].filter((id) => id.startsWith(from));
      expect(ofSender).toEqual(numbers(count).map((number) => `${from}_${number}`));
    }
    expect(await waiting()).toBe(0);
    expect(await box.deadLetters()).toEqual([]);
  });
});
