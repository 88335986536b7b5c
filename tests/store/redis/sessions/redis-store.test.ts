import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/protocol/clock.js';
import type { SignedAnswer } from '../../../../src/protocol/permission/signed-answer.js';
import type { PostedQuestion } from '../../../../src/protocol/session/question-board.js';
import { openRedisStore } from '../../../../src/store/redis/sessions/redis-store.js';
import { surveySwarms } from '../../../../src/store/redis/sessions/swarm-survey.js';
import { redisServer } from '../../../fakes/redis/redis-server.js';
import { clusterServers, plainServer, watchedServers } from '../../../fakes/redis/redis-servers.js';
import { needs } from '../../../setup/needs.js';
import { created, letter, meta } from '../../contracts/records.js';
import { temporaryFolder } from '../../session-folder.js';

const open = async (url: string, pid = 1) => {
  const store = await openRedisStore({
    url,
    owner: { marker: `owner-${pid}`, pid },
    clock: systemClock,
    redact: (text: string) => text,
    folder: temporaryFolder(),
  });
  onTestFinished(() => store.sessions.close());
  return store;
};

const question = (id: string): PostedQuestion => ({
  id,
  agent: 'a_1',
  call: 'c_1',
  tool: 'Bash',
  input: {},
  inputDigest: 'x',
  risk: 'low',
  description: 'x',
  reason: 'x',
  cwd: '/',
  askedAt: 1,
});

const signed = (id: string, signature: string): SignedAnswer => ({
  question: id,
  agent: 'a_1',
  call: 'c_1',
  inputDigest: 'x',
  surface: 'inbox',
  answer: { behavior: 'allow' },
  issuedAt: 1,
  signature,
});

/** Uses every part of a store once, from two processes. */
const roundTrip = async (url: string, id: string): Promise<void> => {
  const [first, second] = await Promise.all([open(url, 1), open(url, 2)]);
  const session = await first.sessions.create(meta({ id }));
  const journal = await session.journal('a_1', null);
  for (const body of [created, letter('l_1', 'hello')]) journal.append(body);
  await journal.sync();
  expect((await second.sessions.readJournal(id, 'a_1')).records).toHaveLength(2);

  const [sender, receiver] = [first.sessions.mailbox(id), second.sessions.mailbox(id)];
  const inbox = await receiver.open('there');
  await sender.send({ id: 'l_2', from: 'here', to: 'there', sentAt: 1, body: 'hello' });
  expect(await inbox.next(AbortSignal.timeout(20_000))).toMatchObject({ id: 'l_2' });
  await inbox.acknowledge('l_2');
  await Promise.all([sender.close(), receiver.close()]);

  const { board, decisions } = first.sessions.questions(id);
  await board.post(question('q_1'));
  const remote = second.sessions.questions(id);
  expect((await remote.read()).questions).toMatchObject([{ id: 'q_1' }]);
  const decided = decisions.waitFor('q_1', AbortSignal.timeout(20_000));
  expect(await remote.decisions.decide(signed('q_1', 'one'))).toMatchObject({ signature: 'one' });
  expect(await remote.decisions.decide(signed('q_1', 'two'))).toMatchObject({ signature: 'one' });
  expect(await decided).toMatchObject({ signature: 'one' });

  const action = { by: 'lead', key: 'k_1' };
  const list = first.sessions.taskList(id);
  await list.create({ subject: 'x', description: 'y' }, action);
  expect(await second.sessions.taskList(id).list()).toMatchObject([{ subject: 'x' }]);

  await first.queue.add({ id: 'a_2', swarm: id, addedAt: 1 });
  expect(await second.queue.list(id)).toMatchObject([{ id: 'a_2', worker: undefined }]);
  const worked: string[] = [];
  const consumer = await second.queue.consume(`w_${id}`, { concurrency: 1 }, async (job) => {
    worked.push(job.id);
    return 'done';
  });
  await expect.poll(() => first.queue.list(id)).toEqual([]);
  expect(worked).toEqual(['a_2']);
  await consumer.close();

  const leave = await first.governor(1, 'org').enter(AbortSignal.timeout(20_000));
  const waiting = second.governor(1, 'org').enter(AbortSignal.timeout(20_000));
  leave();
  (await waiting)();
  await session.close();
};

needs.describe('redis')('a store in Redis', () => {
  test('shares journals, letters, questions, tasks, jobs and slots between two processes', async () => {
    const { url } = await redisServer();
    await roundTrip(url, 's_1');
    const { sessions } = await open(url, 3);
    expect(await sessions.remove('s_1')).toBeGreaterThan(0);
  });

  test('can be closed twice, and rejects commands after that', async () => {
    const { sessions } = await open((await redisServer()).url);
    await sessions.close();
    await sessions.close();
    await expect(sessions.list()).rejects.toThrow('Connection is closed.');
  });
});

needs.describe('own-redis')('a store in Redis', () => {
  test('works for a Redis user with access to the keys of Skein only', async () => {
    const { port } = await plainServer();
    const { redis } = await open(`redis://127.0.0.1:${port}`);
    const rights = ['~skein:1:*', '&skein:1:*', '+@all', '-@dangerous', '+info', '+client'];
    await redis.call('ACL', 'SETUSER', 'ada', 'on', '>hush', ...rights);
    await roundTrip(`redis://ada:hush@127.0.0.1:${port}`, 's_1');
    expect(await redis.call('ACL', 'LOG')).toEqual([]);
  });

  test('works in a cluster', async () => {
    const { url } = await clusterServers();
    for (const id of ['s_1', 's_2', 's_3']) await roundTrip(url, id);
    const { redis, queue, sessions } = await open(url, 3);
    const { swarms, isComplete } = await surveySwarms(redis, queue);
    expect(swarms.map(({ swarm }) => swarm).sort()).toEqual(['s_1', 's_2', 's_3']);
    expect(isComplete).toBe(true);
    expect(swarms.every(({ lasting }) => lasting === 0)).toBe(true);
    expect(await sessions.remove('s_2')).toBeGreaterThan(0);
    expect((await surveySwarms(redis, queue)).swarms).toHaveLength(2);
  });

  test('reports records that a failover has lost, and writes no record after the gap', async () => {
    const { url, inStep, withoutReplica } = await watchedServers();
    const { sessions } = await open(url);
    const session = await sessions.create(meta());
    const journal = await session.journal('a_1', null);
    journal.append(created);
    await journal.sync();
    await inStep();
    await withoutReplica(async () => {
      journal.append(letter('l_1', 'lost with the master'));
      await journal.sync();
    });
    journal.append(letter('l_2', 'after it'));
    await expect(journal.sync()).rejects.toThrow(/^Redis has lost 1 stored record of agent a_1/);
    expect((await sessions.readJournal('s_1', 'a_1')).records).toHaveLength(1);
  });

  test('continues after a failover without loss', async () => {
    const { url, inStep, master } = await watchedServers();
    const { sessions } = await open(url);
    const session = await sessions.create(meta());
    const journal = await session.journal('a_1', null);
    journal.append(created);
    await journal.sync();
    await inStep();
    await master.kill();
    journal.append(letter('l_1', 'after it'));
    await journal.sync();
    expect((await sessions.readJournal('s_1', 'a_1')).records).toHaveLength(2);
  });
});
