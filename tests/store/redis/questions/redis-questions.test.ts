import { expect, onTestFinished, test } from 'vitest';
import type { SignedAnswer } from '../../../../src/protocol/permission/signed-answer.js';
import type { Decisions, PostedQuestion } from '../../../../src/protocol/session/question-board.js';
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
import { bundled, startWorker } from '../../child-program.js';

const never = new AbortController().signal;
const keys = swarmKeys('s_1');

const question = (id: string, askedAt = 1, input: unknown = {}): PostedQuestion => ({
  id,
  agent: 'a_1',
  call: 'c_1',
  tool: 'Bash',
  input,
  inputDigest: 'd',
  askedAt,
  description: 'Bash make',
  reason: 'why',
  risk: 'medium',
  cwd: '/w',
});

const signed = (id: string, surface: string, reason = 'No.'): SignedAnswer => ({
  question: id,
  agent: 'a_1',
  call: 'c_1',
  inputDigest: 'd',
  surface,
  issuedAt: 1,
  answer: { behavior: 'deny', reason },
  signature: `of ${surface}`,
});

const setUpAt = async <Server extends RedisPlace>(broker: RedisBroker<Server>) => {
  const desk = () => {
    const { decisions: verdicts, ...rest } = redisQuestions(echoingBroker(broker), 's_1');
    return { ...rest, verdicts: verdicts as Decisions };
  };
  return { broker, server: broker.server, desk };
};
const setUp = async () => setUpAt(await redisBroker());
const setUpOwn = async () => setUpAt(await ownRedisBroker());

needs.describe('redis')('the questions of a swarm in Redis', () => {
  test('are seen by everybody, oldest first, until they are withdrawn', async () => {
    const { desk } = await setUp();
    const { board } = desk();
    await board.post(question('q_a', 2));
    const old = question('q_b', 1, { command: 'make\n', list: [1, null] });
    await board.post(old);
    expect(await desk().read()).toEqual({ questions: [old, question('q_a', 2)], leftOut: 0 });
    await board.withdraw('q_b');
    await board.withdraw('q_never');
    expect((await desk().read()).questions).toMatchObject([{ id: 'q_a' }]);
  });

  test('are cleared by whoever has posted them', async () => {
    const { desk } = await setUp();
    const [mine, yours] = [desk(), desk()];
    await mine.board.clear();
    await mine.board.post(question('q_a'));
    await yours.board.post(question('q_b'));
    await mine.board.clear();
    expect((await mine.read()).questions).toMatchObject([{ id: 'q_b' }]);
  });

  test('are left out when they are none of ours, and gone when nobody can wait for them', async () => {
    const { broker, desk } = await setUp();
    await desk().board.post(question('q_a'));
    const now = Date.now();
    const put = (id: string, text: string) => broker.call('HSET', keys.questions, id, text);
    await put('q_torn', `${now} {"id":"q_torn"`);
    await put('q_other', `${now} ${JSON.stringify(question('q_a'))}`);
    await put('q_undated', JSON.stringify(question('q_undated')));
    await put('q_old', `${now - 25 * 60 * 60 * 1_000} ${JSON.stringify(question('q_old'))}`);
    const { questions, leftOut } = await desk().read();
    expect(questions).toMatchObject([{ id: 'q_a' }]);
    expect(leftOut).toBe(3);
    expect(await broker.call('HEXISTS', keys.questions, 'q_old')).toBe(0);
  });

  test('are read up to a number, and the rest is said to be there', async () => {
    const { broker, desk } = await setUp();
    const all = Array.from({ length: 1_100 }, (_, at) => question(`q_${at}`));
    const texts = all.flatMap((it) => [it.id, `${Date.now()} ${JSON.stringify(it)}`]);
    await broker.call('HSET', keys.questions, ...texts);
    const { questions, leftOut } = await desk().read();
    expect([questions.length, leftOut]).toEqual([1_000, 100]);
  });

  test('are refused when they are too long, or have a name that leads elsewhere', async () => {
    const { broker, desk } = await setUp();
    const { board, verdicts } = desk();
    const long = { content: 'x'.repeat(5_000_000) };
    await expect(board.post(question('q_a', 1, long))).rejects.toThrow(UsageError);
    await expect(board.post(question('../q_a'))).rejects.toThrow(UsageError);
    await expect(verdicts.decide(signed('a b', 'x'))).rejects.toThrow(UsageError);
    expect(await broker.call('KEYS', '*')).toEqual([]);
    await broker.call('SET', keys.questions, 'in the way');
    await expect(board.post(question('q_a'))).rejects.toThrow(UsageError);
    await board.withdraw('q_a');
  });

  test('have one answer, and all hear whose it is', async () => {
    const { broker, desk } = await setUp();
    const [ann, bob] = [desk(), desk()];
    await ann.board.post(question('q_a'));
    const waiting = [ann, bob].map(({ verdicts }) => verdicts.waitFor('q_a', never));
    const first = signed('q_a', 'ann');
    expect(await ann.verdicts.decide(first)).toEqual(first);
    expect(await bob.verdicts.decide(signed('q_a', 'bob'))).toEqual(first);
    // Sent again because the reply was lost.
    expect(await ann.verdicts.decide(first)).toEqual(first);
    expect(await Promise.all(waiting)).toEqual([first, first]);
    expect(await bob.verdicts.waitFor('q_a', never)).toEqual(first);
    expect((await bob.read()).questions).toEqual([]);
    // Too late to be asked.
    await ann.board.post(question('q_a'));
    await ann.board.post(question('q_b'));
    expect((await bob.read()).questions).toMatchObject([{ id: 'q_b' }]);
    for (const key of (await broker.call('KEYS', '*')) as string[]) {
      expect(await broker.call('PTTL', key)).toBeGreaterThan(0);
    }
  });

  test('can be decided after an answer that does not count', async () => {
    const { broker, desk } = await setUp();
    const { verdicts } = desk();
    const forged = signed('q_a', 'mallory');
    const { answer, ...rest } = forged;
    await broker.call('SET', keys.verdict('q_a'), JSON.stringify({ answer, ...rest }));
    expect(await verdicts.waitFor('q_a', never)).toEqual(forged);
    const good = signed('q_a', 'ann');
    await verdicts.retract('q_a', good);
    await verdicts.retract('q_b', good);
    expect(await verdicts.decide(good)).toEqual(forged);
    await verdicts.retract('q_a', forged);
    const waiting = verdicts.waitFor('q_a', never);
    expect(await verdicts.decide(good)).toEqual(good);
    expect(await waiting).toEqual(good);
  });

  test.each([
    ['no JSON', 'torn {'],
    ['no text', Buffer.from([0x7b, 0xff, 0xfe])],
    ['an answer to another question', JSON.stringify(signed('q_b', 'ann'))],
    ['something unsigned', '{"question":"q_a"}'],
  ])('are not taken away by %s in the place of an answer', async (_, text) => {
    const { broker, desk } = await setUp();
    const { verdicts } = desk();
    await broker.call('SET', keys.verdict('q_a'), text);
    await expect(verdicts.waitFor('q_a', never)).rejects.toMatchObject({ code: 'storage' });
    await broker.call('SET', keys.verdict('q_a'), text);
    const good = signed('q_a', 'ann');
    expect(await verdicts.decide(good)).toEqual(good);
    expect(await verdicts.waitFor('q_a', never)).toEqual(good);
  });

  test('are not taken away by something of another kind in the place of an answer', async () => {
    const { broker, desk } = await setUp();
    const { verdicts } = desk();
    await broker.call('RPUSH', keys.verdict('q_a'), 'x');
    const waiting = verdicts.waitFor('q_a', never);
    const good = signed('q_a', 'ann');
    expect(await verdicts.decide(good)).toEqual(good);
    expect(await waiting).toEqual(good);
  });

  test('tell those who watch when they come and go', async () => {
    const { desk } = await setUp();
    const { board, verdicts } = desk();
    let changes = 0;
    const stop = desk().verdicts.watch(() => {
      changes += 1;
    });
    for (const act of [
      () => board.post(question('q_a')),
      () => board.withdraw('q_a'),
      () => verdicts.decide(signed('q_a', 'ann')),
    ]) {
      const before = changes;
      await act();
      await expect.poll(() => changes).toBeGreaterThan(before);
    }
    stop();
  });

  test('are decided once each when two processes answer a thousand of them at once', async () => {
    const { server, desk } = await setUp();
    const { board, verdicts, read } = desk();
    const ids = Array.from({ length: 1_000 }, (_, at) => `q_${at}`);
    await Promise.all(ids.map((id) => board.post(question(id))));
    const waiting = ids.map((id) => verdicts.waitFor(id, new AbortController().signal));
    const program = await bundled('decide-questions');
    const heard = await Promise.all(
      ['ann', 'bob'].map(async (name) => {
        const worker = startWorker(program, server.url, 's_1', name);
        expect(await worker.answer()).toBe('1000');
        return worker;
      }),
    ).then((workers) =>
      Promise.all(
        workers.map(async (worker) => {
          worker.tell('decide');
          return JSON.parse(await worker.answer()) as Record<string, string>;
        }),
      ),
    );
    const winners = (await Promise.all(waiting)).map(({ surface }) => surface);
    for (const told of heard) expect(ids.map((id) => told[id])).toEqual(winners);
    expect(winners.filter((name) => name !== 'ann' && name !== 'bob')).toEqual([]);
    expect(await read()).toEqual({ questions: [], leftOut: 0 });
  });
});

needs.describe('own-redis')('the questions of a swarm in Redis', () => {
  test('are waited for no longer than wanted', async () => {
    const { server, desk } = await setUpOwn();
    const { verdicts } = desk();
    const controller = new AbortController();
    const waiting = verdicts.waitFor('q_a', controller.signal);
    await server.kill();
    const later = verdicts.waitFor('q_a', controller.signal);
    controller.abort(new Error('never mind'));
    for (const asked of [waiting, later, verdicts.waitFor('q_a', controller.signal)]) {
      await expect(asked).rejects.toThrow('never mind');
    }
    await server.start();
  });

  test('are decided once while Redis is away, and whoever waits hears of it', async () => {
    const { server, desk } = await setUpOwn();
    const [ann, bob] = [desk(), desk()];
    const other = await connectRedis(server.url);
    onTestFinished(() => other.close());
    const waiting = redisQuestions(other, 's_1').decisions?.waitFor('q_a', never);
    await ann.board.post(question('q_a'));
    await server.kill();
    const answers = [
      ann.verdicts.decide(signed('q_a', 'ann')),
      bob.verdicts.decide(signed('q_a', 'bob')),
    ];
    await server.start();
    const [first, second] = await Promise.all(answers);
    expect(first).toEqual(second);
    expect(await waiting).toEqual(first);
    expect((await bob.read()).questions).toEqual([]);
  });
});
