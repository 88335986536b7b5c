import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/protocol/clock.js';
import type { SignedAnswer } from '../../../../src/protocol/permission/signed-answer.js';
import type { PostedQuestion } from '../../../../src/protocol/session/question-board.js';
import type { RedisConnections } from '../../../../src/store/redis/connection/redis-connections.js';
import {
  KEEP_MS,
  KEPT_WHILE_OPEN,
  SWARMS,
  swarmKeys,
} from '../../../../src/store/redis/connection/swarm-keys.js';
import { openRedisStore } from '../../../../src/store/redis/sessions/redis-store.js';
import { renewExpiry } from '../../../../src/store/redis/sessions/renew-expiry.js';
import { redisConnections } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { created, letter, meta } from '../../contracts/records.js';
import { temporaryFolder } from '../../session-folder.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const keys = swarmKeys('s_1');

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

const signed: SignedAnswer = {
  question: 'q_2',
  agent: 'a_1',
  call: 'c_1',
  inputDigest: 'x',
  surface: 'inbox',
  answer: { behavior: 'allow' },
  issuedAt: 1,
  signature: 'x',
};

/** An open session with a value under each of its keys. */
const usedSession = async () => {
  const redis = await redisConnections();
  const { sessions } = await openRedisStore({
    url: redis.server.url,
    owner: { marker: 'owner', pid: 1 },
    clock: systemClock,
    redact: (text: string) => text,
    folder: temporaryFolder(),
  });
  onTestFinished(() => sessions.close());
  const session = await sessions.create(meta());
  const journal = await session.journal('a_1', null);
  for (const body of [created, letter('l_1', 'x'.repeat(300_000))]) journal.append(body);
  await journal.sync();
  await session.putArtifact('x.txt', Buffer.from('x'));

  const mailbox = sessions.mailbox('s_1');
  const inbox = await mailbox.open('here');
  await mailbox.send({ id: 'l_2', to: 'here', from: 'here', sentAt: 1, body: '' });
  await mailbox.send({ id: 'l_3', to: 'there', from: 'here', sentAt: 1, body: '' });
  await inbox.next(AbortSignal.timeout(20_000));
  await inbox.moveToDeadLetters('l_2', 'Nobody wants it.');

  const { board, decisions } = sessions.questions('s_1');
  await board.post(question('q_1'));
  await decisions.decide(signed);
  const action = { by: 'lead', key: 'k_1' };
  await sessions.taskList('s_1').create({ subject: 'x', description: 'y' }, action);
  return redis;
};

/** Returns the expiry of each key by its name in `swarmKeys`. */
const timesLeft = async (
  redis: RedisConnections,
): Promise<ReadonlyMap<string, readonly number[]>> => {
  const all = (await redis.call('KEYS', `${keys.prefix}*`)) as string[];
  const times = new Map<string, number[]>();
  for (const key of all) {
    const name = nameOf(key);
    const left = Number(await redis.call('PTTL', key));
    times.set(name, [...(times.get(name) ?? []), left]);
  }
  return times;
};

const nameOf = (key: string): string => {
  const found = Object.entries(keys).find(([name, own]) =>
    typeof own === 'string' ? name !== 'prefix' && own === key : key.startsWith(own('')),
  );
  return found?.[0] ?? `unknown: ${key}`;
};

needs.describe('redis')('the keys of a session', () => {
  test('are renewed while it is open, except for keys that may expire', async () => {
    const redis = await usedSession();
    const before = await timesLeft(redis);
    expect([...before.keys()].sort()).toEqual(Object.keys(KEPT_WHILE_OPEN).sort());
    for (const [name, times] of before) {
      const maxMs =
        KEPT_WHILE_OPEN[name as keyof typeof KEPT_WHILE_OPEN] === false ? DAY_MS : KEEP_MS;
      expect([name, ...times.filter((ms) => ms < 0 || ms > maxMs)]).toEqual([name]);
    }
    const all = (await redis.call('KEYS', `${keys.prefix}*`)) as string[];
    for (const key of [SWARMS, ...all]) await redis.call('PEXPIRE', key, DAY_MS);
    await renewExpiry(redis, 's_1');
    const after = await timesLeft(redis);
    const renewed = [...after].filter(([, times]) => times.every((ms) => ms > DAY_MS));
    const staying = Object.entries(KEPT_WHILE_OPEN).filter(([, how]) => how !== false);
    expect(renewed.map(([name]) => name).sort()).toEqual(staying.map(([name]) => name).sort());
    expect(await redis.call('PTTL', SWARMS)).toBeGreaterThan(DAY_MS);
  });
});
