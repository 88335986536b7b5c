import { expect, onTestFinished, test } from 'vitest';
import { UsageError } from '../../../../src/protocol/skein-error.js';
import { connectRedis } from '../../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { redisQuestions } from '../../../../src/store/redis/questions/redis-questions.js';
import { echoingConnections } from '../../../fakes/redis/echoing-redis.js';
import { ownRedisConnections } from '../../../fakes/redis/own-redis-server.js';
import {
  type RedisEndpoint,
  redisConnections,
  type ServerConnections,
} from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { describeQuestions, postedQuestion, signedBy } from '../../contracts/questions.js';

const never = new AbortController().signal;
const keys = swarmKeys('s_1');

const setUpAt = async <Server extends RedisEndpoint>(redis: ServerConnections<Server>) => {
  const open = () => redisQuestions(echoingConnections(redis), 's_1');
  return { redis, server: redis.server, open };
};
const setUp = async () => setUpAt(await redisConnections());
const setUpOwn = async () => setUpAt(await ownRedisConnections());

describeQuestions(
  'in Redis',
  async () => {
    const { redis, server, open } = await setUp();
    return {
      open,
      address: [server.url, 's_1'],
      storeDecision: async (id, value) => {
        await redis.call('SET', keys.verdict(id), value);
      },
    };
  },
  needs.describe('redis'),
);

needs.describe('redis')('the questions of a swarm in Redis', () => {
  test('and their decisions expire', async () => {
    const { redis, open } = await setUp();
    const { board, decisions } = open();
    await board.post(postedQuestion('q_a'));
    await board.post(postedQuestion('q_b'));
    await decisions.decide(signedBy('ann'));
    const stored = (await redis.call('KEYS', '*')) as string[];
    expect(stored).toHaveLength(2);
    for (const key of stored) expect(await redis.call('PTTL', key)).toBeGreaterThan(0);
  });

  test('cannot be posted over a value of another kind', async () => {
    const { redis, open } = await setUp();
    await redis.call('SET', keys.questions, 'in the way');
    await expect(open().board.post(postedQuestion('q_a'))).rejects.toThrow(UsageError);
    await open().board.withdraw('q_a');
  });

  test('are cleared only by the process that posted them', async () => {
    const { open } = await setUp();
    const [own, other] = [open(), open()];
    await own.board.clear();
    await own.board.post(postedQuestion('q_a'));
    await other.board.post(postedQuestion('q_b'));
    await own.board.clear();
    expect((await own.read()).questions).toMatchObject([{ id: 'q_b' }]);
  });

  test('are left out if they are invalid, and removed after their time limit', async () => {
    const { redis, open } = await setUp();
    await open().board.post(postedQuestion('q_a'));
    const now = Date.now();
    const put = (id: string, text: string) => redis.call('HSET', keys.questions, id, text);
    await put('q_torn', `${now} {"id":"q_torn"`);
    await put('q_other', `${now} ${JSON.stringify(postedQuestion('q_a'))}`);
    await put('q_undated', JSON.stringify(postedQuestion('q_undated')));
    await put('q_old', `${now - 25 * 60 * 60 * 1_000} ${JSON.stringify(postedQuestion('q_old'))}`);
    const { questions, leftOut } = await open().read();
    expect(questions).toMatchObject([{ id: 'q_a' }]);
    expect(leftOut).toBe(3);
    expect(await redis.call('HEXISTS', keys.questions, 'q_old')).toBe(0);
  });

  test('are read up to a maximum of 1000, with the number of the others', async () => {
    const { redis, open } = await setUp();
    const all = Array.from({ length: 1_100 }, (_, at) => postedQuestion(`q_${at}`));
    const texts = all.flatMap((it) => [it.id, `${Date.now()} ${JSON.stringify(it)}`]);
    await redis.call('HSET', keys.questions, ...texts);
    const { questions, leftOut } = await open().read();
    expect([questions.length, leftOut]).toEqual([1_000, 100]);
  });

  test('can be decided if a value of another type is stored instead of an answer', async () => {
    const { redis, open } = await setUp();
    const { decisions } = open();
    await redis.call('RPUSH', keys.verdict('q_a'), 'x');
    const waiting = decisions.waitFor('q_a', never);
    const good = signedBy('ann');
    expect(await decisions.decide(good)).toEqual(good);
    expect(await waiting).toEqual(good);
  });
});

needs.describe('own-redis')('the questions of a swarm in Redis', () => {
  test('are no longer waited for after an abort, also while Redis is down', async () => {
    const { server, open } = await setUpOwn();
    const { decisions } = open();
    const controller = new AbortController();
    const waiting = decisions.waitFor('q_a', controller.signal);
    await server.kill();
    const later = decisions.waitFor('q_a', controller.signal);
    controller.abort(new Error('never mind'));
    for (const wait of [waiting, later, decisions.waitFor('q_a', controller.signal)]) {
      await expect(wait).rejects.toThrow('never mind');
    }
    await server.start();
  });

  test('are decided once while Redis is down, and the decision reaches a waiting process', async () => {
    const { server, open } = await setUpOwn();
    const [ann, bob] = [open(), open()];
    const third = await connectRedis(server.url);
    onTestFinished(() => third.close());
    const waiting = redisQuestions(third, 's_1').decisions.waitFor('q_a', never);
    await ann.board.post(postedQuestion('q_a'));
    await server.kill();
    const answers = [ann.decisions.decide(signedBy('ann')), bob.decisions.decide(signedBy('bob'))];
    await server.start();
    const [first, second] = await Promise.all(answers);
    expect(first).toEqual(second);
    expect(await waiting).toEqual(first);
    expect((await bob.read()).questions).toEqual([]);
  });
});
