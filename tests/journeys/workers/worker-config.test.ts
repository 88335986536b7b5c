/** Whoever can write to Redis puts back what the person at a lead had allowed before. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  connectRedis,
  type RedisConnections,
} from '../../../src/store/redis/connection/redis-connections.js';
import { queueKey, swarmKeys } from '../../../src/store/redis/connection/swarm-keys.js';
import { bash, HELPERS, helper } from '../../fakes/agents/worker-lead.js';
import { SOON, type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import type { Rules } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';
import { needs } from '../../setup/needs.js';

const LEAD = ['--agents', HELPERS];
const FREE = ['--permission-mode', 'bypassPermissions'];
const TERMS = 'run-terms.json';
const { artifacts, journal } = swarmKeys('one');

const task = helper('Make it');

/** A lead that does nothing at first, and whose helper makes a file. */
const RULES: Rules = [
  { match: { lastUser: 'Again' }, reply: { tool_use: task } },
  { match: { firstUser: 'Begin' }, reply: 'I see.' },
  { match: { turn: 0 }, reply: { tool_use: bash('touch made.txt') } },
  { reply: 'That is all.' },
];

const peerOf = async ({ redis }: WorkerScene): Promise<RedisConnections> => {
  const peer = await connectRedis(redis.url);
  onTestFinished(() => peer.close());
  return peer;
};

/** The one that is in the queue, once it is there. */
const jobOf = async (scene: WorkerScene) => {
  const { jobs } = await scene.store();
  for (;;) {
    const [job] = await jobs.list('one');
    if (job !== undefined) return job;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const isMade = ({ workspace }: WorkerScene) => existsSync(join(workspace, 'made.txt'));

/** A session that was led without a question, and is led with questions now; its helper waits for a worker. */
const stricter = async () => {
  const scene = await workerScene(RULES, SOON);
  const peer = await peerOf(scene);
  await scene.run(['-p', 'Begin', '--session-id', 'one', ...LEAD, ...FREE]);
  const [old, was] = [await peer.call('HGET', artifacts, TERMS), await linesOf(peer, scene)];
  const lead = scene.begin(['-p', 'Again', '--resume', 'one', ...LEAD]);
  const job = await jobOf(scene);
  // It writes nothing more until it hears of its helper.
  await eventually('the lead waits', () => lead.stderr.includes('Waiting for'));
  const now = await peer.call('HGET', artifacts, TERMS);
  expect(now).not.toBe(old);
  await peer.call('HSET', artifacts, TERMS, String(old));
  return { scene, peer, lead, job, was, now: String(now) };
};

const linesOf = async (peer: RedisConnections, scene: WorkerScene): Promise<readonly string[]> => {
  const [meta] = await (await scene.store()).list();
  return (await peer.call('LRANGE', journal(meta?.lead ?? ''), 0, -1)) as string[];
};

needs.describe('redis')('what the person at a lead had allowed before', () => {
  test('does not hold for an agent that was handed over since, and what holds now does', async () => {
    const { scene, peer, lead, was, now } = await stricter();
    // So that nothing but the agent's own job says that there was more.
    const [meta] = await (await scene.store()).list();
    const list = journal(meta?.lead ?? '');
    const rest = (await peer.call('LRANGE', list, was.length, -1)) as string[];
    await peer.call('LTRIM', list, 0, was.length - 1);
    const worker = await scene.worker();
    await eventually('it is refused', () =>
      worker.stderr.includes('older than the config that its lead has published'),
    );
    expect(isMade(scene)).toBe(false);
    await peer.call('RPUSH', list, ...rest);
    await peer.call('HSET', artifacts, TERMS, now);
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(isMade(scene)).toBe(false);
  });

  test.each<[string, (handover: string) => string | undefined]>([
    ['nothing', () => undefined],
    ['other words', (handover) => handover.replace(/"epoch":\d+/, '"epoch":1')],
  ])('does not hold for one whose job says %s about that', async (_, change) => {
    const { scene, peer, job } = await stricter();
    const { worker: _worker, handover = '', ...rest } = job;
    const key = queueKey(`one.${job.id}.${job.at}`);
    const changed = { ...rest, handover: change(handover) };
    await peer.call('HSET', key, 'data', JSON.stringify(changed));
    const worker = await scene.worker();
    await eventually('it is refused', () => worker.stderr.includes('was not handed over by'));
    expect(isMade(scene)).toBe(false);
  });

  test('does not hold for one that was handed over before, once another lead has begun', async () => {
    const scene = await workerScene(
      [{ match: { firstUser: 'Begin', turn: 0 }, reply: { tool_use: task } }, ...RULES],
      SOON,
    );
    const peer = await peerOf(scene);
    const first = scene.begin(['-p', 'Begin', '--session-id', 'one', ...LEAD, ...FREE]);
    await jobOf(scene);
    const old = String(await peer.call('HGET', artifacts, TERMS));
    first.kill('SIGKILL');
    await first.ended;
    await scene.left('one');
    const lead = scene.begin(['resume', 'one', '-p', ...LEAD, '--permission-mode', 'default']);
    const began = async () =>
      (await linesOf(peer, scene)).filter((line) => line.includes('"epoch.began"')).length;
    await expect.poll(began, { timeout: 20_000 }).toBe(2);
    const now = String(await peer.call('HGET', artifacts, TERMS));
    await peer.call('HSET', artifacts, TERMS, old);
    const worker = await scene.worker();
    await eventually('it is refused', () =>
      worker.stderr.includes('older than the config that its lead has published'),
    );
    expect(isMade(scene)).toBe(false);
    await peer.call('HSET', artifacts, TERMS, now);
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(isMade(scene)).toBe(false);
  });
});
