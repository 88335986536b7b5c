import { expect, test } from 'vitest';
import { systemClock } from '../../../src/protocol/clock.js';
import { swarmKeys } from '../../../src/store/redis/redis-keys.js';
import { RedisWorkList } from '../../../src/store/redis/redis-work-list.js';
import { echoingBroker } from '../../fakes/echoing-broker.js';
import { redisBroker } from '../../fakes/redis-server.js';
import { needs } from '../../setup/needs.js';
import { bundled, startWorker, type Worker } from '../child-program.js';
import { act, describeWorkList } from '../contracts/work-list.js';

const keys = swarmKeys('s_1');

const setUp = async (longest?: number) => {
  const broker = await redisBroker();
  const open = () => new RedisWorkList(broker, 's_1', systemClock, longest);
  const add = async (...subjects: readonly string[]) => {
    for (const subject of subjects) await open().create({ subject, description: '' }, act('ann'));
  };
  const subjects = async () => (await open().list()).map(({ subject }) => subject);
  return { broker, open, add, subjects };
};

/** All that it says until it is done, or dead. */
const wordsOf = async (worker: Worker, heard: (count: number) => void = () => {}) => {
  const words: string[] = [];
  for (;;) {
    const word = await worker.answer().catch(() => 'dead');
    if (word === 'done' || word === 'dead') return words;
    words.push(word);
    heard(words.length);
  }
};

const starter = async (...args: readonly string[]) => {
  const program = await bundled('claim-redis-work');
  const [url = '', ...more] = args;
  return async (name: string): Promise<Worker> => {
    const worker = startWorker(program, url, name, ...more);
    expect(await worker.answer()).toBe('ready');
    return worker;
  };
};

needs.describe('redis')('the list of work in Redis', () => {
  describeWorkList('in Redis', setUp);
  describeWorkList(
    'in Redis, where everything arrives twice, put together after every sixteenth change',
    async () => {
      const broker = echoingBroker(await redisBroker());
      return { open: () => new RedisWorkList(broker, 's_1', systemClock, 16) };
    },
  );

  test('is short however much is changed, and goes one day', async () => {
    const { broker, open, add, subjects } = await setUp(3);
    expect(await subjects()).toEqual([]);
    expect(await broker.call('KEYS', '*')).toEqual([]);
    await add('fly');
    for (let at = 0; at < 20; at += 1) {
      await open().update('1', { description: `${at}` }, act('ann'));
    }
    expect(await broker.call('LLEN', keys.work)).toBeLessThanOrEqual(3);
    expect((await open().get('1'))?.version).toBe(21);
    for (const key of [keys.work, keys.workGeneration]) {
      expect(await broker.call('PTTL', key)).toBeGreaterThan(0);
    }
  });

  test('is the same for one who was away while it was put together', async () => {
    const { open, add } = await setUp(3);
    const late = open();
    await late.create({ subject: 'a', description: '' }, act('ann'));
    await add('b', 'c', 'd', 'e');
    expect((await late.create({ subject: 'f', description: '' }, act('ann'))).id).toBe('6');
    expect((await late.list()).map(({ subject }) => subject)).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
      'f',
    ]);
  });

  test('may have anything in it', async () => {
    const { broker, open, add, subjects } = await setUp();
    const late = open();
    await add('fly');
    await broker.call('RPUSH', keys.work, '{"items": [{"id"', '{"last": 9, "items": 1}', '');
    await add('land');
    expect(await subjects()).toEqual(['fly', 'land']);
    expect((await late.list()).map(({ id }) => id)).toEqual(['1', '2']);
    await broker.call('DEL', keys.work);
    await broker.call('SET', keys.work, 'no list');
    await expect(late.list()).rejects.toMatchObject({ code: 'storage' });
  });

  test('begins again for everybody when Redis has lost it', async () => {
    const { broker, open, add } = await setUp();
    const late = open();
    await add('fly', 'land', 'rest');
    expect(await late.list()).toHaveLength(3);
    await broker.call('FLUSHALL');
    expect(await late.list()).toEqual([]);
    await add('swim', 'dive', 'run', 'hide');
    const names = (await late.list()).map(({ subject }) => subject);
    expect(names).toEqual(['swim', 'dive', 'run', 'hide']);
  });

  test('keeps a change once that is made while Redis is away', async () => {
    const { broker, open, add } = await setUp();
    await add('fly');
    await broker.server.kill();
    const change = open().update('1', { status: 'in_progress' }, act('ann'));
    const added = add('land');
    await broker.server.start();
    expect(await change).toMatchObject({ owner: 'ann', version: 2 });
    await added;
    expect((await open().list()).map(({ subject, version }) => [subject, version])).toEqual([
      ...[
        ['fly', 2],
        ['land', 1],
      ],
    ]);
  });

  test('has a thousand items that processes race for, and each is got by exactly one', async () => {
    const { broker, open } = await setUp();
    const work = open();
    for (let at = 1; at <= 1_000; at += 1) {
      await work.create({ subject: `item ${at}`, description: '' }, act('lead'));
    }
    const names = ['ann', 'bob', 'cyd', 'dan'];
    const workers = await Promise.all(names.map(await starter(broker.server.url)));
    for (const worker of workers) worker.tell('claim');
    // One of them is killed on the way, and what it was told that it got is its own all the same.
    const got = await Promise.all(
      workers.map((worker, at) =>
        wordsOf(worker, (count) => {
          if (at === 0 && count === 50) void worker.kill();
        }),
      ),
    );
    const owners = new Map((await work.list()).map(({ id, owner }) => [id, owner]));
    const told = got.flatMap((ids, at) => ids.map((id) => [id, names[at]] as const));
    expect(new Set(told.map(([id]) => id)).size).toBe(told.length);
    expect(told.filter(([id, name]) => owners.get(id) !== name)).toEqual([]);
    expect([...owners.values()].filter((owner) => owner === undefined)).toEqual([]);
    const untold = [...owners].filter(([id]) => !told.some(([known]) => known === id));
    // What it got in the moment of its death, and no more than that, it could not say.
    expect(untold.filter(([, owner]) => owner !== 'ann')).toEqual([]);
  });

  test('loses nothing that one was told it had added, whenever it or Redis is killed', async () => {
    const { broker, open } = await setUp(4);
    const start = await starter(broker.server.url, '4');
    const told: string[] = [];
    for (const round of [1, 3, 8, 21]) {
      const workers = await Promise.all([start('ann'), start('bob')]);
      for (const worker of workers) worker.tell('create 500');
      const words = workers.map((worker) =>
        wordsOf(worker, (count) => {
          if (count === round) void worker.kill();
        }),
      );
      await broker.server.kill();
      await broker.server.start();
      told.push(...(await Promise.all(words)).flat());
      const ids = (await open().list()).map(({ id }) => id);
      expect(ids).toEqual(ids.map((_, at) => String(at + 1)));
      expect(told.filter((id) => !ids.includes(id))).toEqual([]);
    }
    expect(new Set(told).size).toBe(told.length);
  });
});
