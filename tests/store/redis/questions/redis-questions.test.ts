import { expect, onTestFinished, test } from 'vitest';
import { UsageError } from '../../../../src/protocol/skein-error.js';
import { connectRedis } from '../../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { redisQuestions } from '../../../../src/store/redis/questions/redis-questions.js';
import { echoingBroker } from '../../../fakes/redis/echoing-redis.js';
import { ownRedisBroker } from '../../../fakes/redis/own-redis-server.js';
import {
  type RedisBroker,
  type RedisPlace,
  redisBroker,
} from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { describeQuestions, postedQuestion, signedBy } from '../../contracts/questions.js';

const never = new AbortController().signal;
const keys = swarmKeys('s_1');

const setUpAt = async <Server extends RedisPlace>(broker: RedisBroker<Server>) => {
  const desk = () => redisQuestions(echoingBroker(broker), 's_1');
  return { broker, server: broker.server, desk };
};
const setUp = async () => setUpAt(await redisBroker());
const setUpOwn = async () => setUpAt(await ownRedisBroker());

describeQuestions(
  'in Redis',
  async () => {
    const { broker, server, desk } = await setUp();
    return {
      open: desk,
      address: [server.url, 's_1'],
      storeDecision: async (id, value) => {
        await broker.call('SET', keys.verdict(id), value);
      },
    };
  },
  needs.describe('redis'),
);

needs.describe('redis')('the questions of a swarm in Redis', () => {
  test('and their decisions expire', async () => {
    const { broker, desk } = await setUp();
    const { board, decisions } = desk();
    await board.post(postedQuestion('q_a'));
    await board.post(postedQuestion('q_b'));
    await decisions.decide(signedBy('ann'));
    const stored = (await broker.call('KEYS', '*')) as string[];
    expect(stored).toHaveLength(2);
    for (const key of stored) expect(await broker.call('PTTL', key)).toBeGreaterThan(0);
  });

  test('cannot be posted over a value of another kind', async () => {
    const { broker, desk } = await setUp();
    await broker.call('SET', keys.questions, 'in the way');
    await expect(desk().board.post(postedQuestion('q_a'))).rejects.toThrow(UsageError);
    await desk().board.withdraw('q_a');
  });

  test('are cleared by whoever has posted them', async () => {
    const { desk } = await setUp();
    const [mine, yours] = [desk(), desk()];
    await mine.board.clear();
    await mine.board.post(postedQuestion('q_a'));
    await yours.board.post(postedQuestion('q_b'));
    await mine.board.clear();
    expect((await mine.read()).questions).toMatchObject([{ id: 'q_b' }]);
  });

  test('are left out when they are none of ours, and gone when nobody can wait for them', async () => {
    const { broker, desk } = await setUp();
    await desk().board.post(postedQuestion('q_a'));
    const now = Date.now();
    const put = (id: string, text: string) => broker.call('HSET', keys.questions, id, text);
    await put('q_torn', `${now} {"id":"q_torn"`);
    await put('q_other', `${now} ${JSON.stringify(postedQuestion('q_a'))}`);
    await put('q_undated', JSON.stringify(postedQuestion('q_undated')));
    await put('q_old', `${now - 25 * 60 * 60 * 1_000} ${JSON.stringify(postedQuestion('q_old'))}`);
    const { questions, leftOut } = await desk().read();
    expect(questions).toMatchObject([{ id: 'q_a' }]);
    expect(leftOut).toBe(3);
    expect(await broker.call('HEXISTS', keys.questions, 'q_old')).toBe(0);
  });

  test('are read up to a number, and the rest is said to be there', async () => {
    const { broker, desk } = await setUp();
    const all = Array.from({ length: 1_100 }, (_, at) => postedQuestion(`q_${at}`));
    const texts = all.flatMap((it) => [it.id, `${Date.now()} ${JSON.stringify(it)}`]);
    await broker.call('HSET', keys.questions, ...texts);
    const { questions, leftOut } = await desk().read();
    expect([questions.length, leftOut]).toEqual([1_000, 100]);
  });

  test('are not taken away by something of another kind in the place of an answer', async () => {
    const { broker, desk } = await setUp();
    const { decisions } = desk();
    await broker.call('RPUSH', keys.verdict('q_a'), 'x');
    const waiting = decisions.waitFor('q_a', never);
    const good = signedBy('ann');
    expect(await decisions.decide(good)).toEqual(good);
    expect(await waiting).toEqual(good);
  });
});

needs.describe('own-redis')('the questions of a swarm in Redis', () => {
  test('are waited for no longer than wanted', async () => {
    const { server, desk } = await setUpOwn();
    const { decisions } = desk();
    const controller = new AbortController();
    const waiting = decisions.waitFor('q_a', controller.signal);
    await server.kill();
    const later = decisions.waitFor('q_a', controller.signal);
    controller.abort(new Error('never mind'));
    for (const asked of [waiting, later, decisions.waitFor('q_a', controller.signal)]) {
      await expect(asked).rejects.toThrow('never mind');
    }
    await server.start();
  });

  test('are decided once while Redis is away, and whoever waits hears of it', async () => {
    const { server, desk } = await setUpOwn();
    const [ann, bob] = [desk(), desk()];
    const other = await connectRedis(server.url);
    onTestFinished(() => other.close());
    const waiting = redisQuestions(other, 's_1').decisions.waitFor('q_a', never);
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
