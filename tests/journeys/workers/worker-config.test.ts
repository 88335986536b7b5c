/** An attacker with write access to Redis restores an older, more permissive lead config. */
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
import { eventually } from '../../fakes/eventually.js';
import type { Rules } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const LEAD = ['--agents', HELPERS];
const FREE = ['--permission-mode', 'bypassPermissions'];
const LEAD_CONFIG = 'run-terms.json';
const { artifacts, journal } = swarmKeys('one');

const task = helper('Make it');

/** A lead without calls at first, and a helper that creates a file. */
const RULES: Rules = [
  { match: { lastUser: 'Again' }, reply: { tool_use: task } },
  { match: { firstUser: 'Begin' }, reply: 'I see.' },
  { match: { turn: 0 }, reply: { tool_use: bash('touch made.txt') } },
  { reply: 'That is all.' },
];

const connectTo = async (scene: WorkerScene): Promise<RedisConnections> => {
  const redis = await connectRedis(scene.redis.url);
  onTestFinished(() => redis.close());
  return redis;
};

/** The first job of the session, as soon as it is queued. */
const jobOf = async (scene: WorkerScene) => {
  const { jobs } = await scene.store();
  for (;;) {
    const [job] = await jobs.list('one');
    if (job !== undefined) return job;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const isMade = ({ workspace }: WorkerScene) => existsSync(join(workspace, 'made.txt'));

/** A session whose mode became stricter. Its helper is queued, and Redis has the old config again. */
const restoreOldConfig = async () => {
  const scene = await workerScene(RULES, SOON);
  const redis = await connectTo(scene);
  await scene.run(['-p', 'Begin', '--session-id', 'one', ...LEAD, ...FREE]);
  const [old, oldLines] = [
    await redis.call('HGET', artifacts, LEAD_CONFIG),
    await linesOf(redis, scene),
  ];
  const lead = scene.begin(['-p', 'Again', '--resume', 'one', ...LEAD]);
  const job = await jobOf(scene);
  // From now on the lead writes no records until its helper reports.
  await eventually('the lead waits', () => lead.stderr.includes('Waiting for'));
  const now = await redis.call('HGET', artifacts, LEAD_CONFIG);
  expect(now).not.toBe(old);
  await redis.call('HSET', artifacts, LEAD_CONFIG, String(old));
  return { scene, redis, lead, job, oldLines, now: String(now) };
};

const linesOf = async (redis: RedisConnections, scene: WorkerScene): Promise<readonly string[]> => {
  const [meta] = await (await scene.store()).list();
  return (await redis.call('LRANGE', journal(meta?.lead ?? ''), 0, -1)) as string[];
};

needs.describe('redis')('an outdated lead config in Redis', () => {
  test('is refused for an agent that was queued under a newer config, and the newer config applies', async () => {
    const { scene, redis, lead, oldLines, now } = await restoreOldConfig();
    // Only the job of the agent still refers to the newer config.
    const [meta] = await (await scene.store()).list();
    const list = journal(meta?.lead ?? '');
    const rest = (await redis.call('LRANGE', list, oldLines.length, -1)) as string[];
    await redis.call('LTRIM', list, 0, oldLines.length - 1);
    const worker = await scene.worker();
    await eventually('the agent is refused', () =>
      worker.stderr.includes('older than the config that its lead has published'),
    );
    expect(isMade(scene)).toBe(false);
    await redis.call('RPUSH', list, ...rest);
    await redis.call('HSET', artifacts, LEAD_CONFIG, now);
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(isMade(scene)).toBe(false);
  });

  test.each<[string, (handover: string) => string | undefined]>([
    ['without a hand-over', () => undefined],
    ['with a changed hand-over', (handover) => handover.replace(/"epoch":\d+/, '"epoch":1')],
  ])('is refused for a job %s', async (_, change) => {
    const { scene, redis, job } = await restoreOldConfig();
    const { worker: _worker, handover = '', ...rest } = job;
    const key = queueKey(`one.${job.id}.${job.at}`);
    const changed = { ...rest, handover: change(handover) };
    await redis.call('HSET', key, 'data', JSON.stringify(changed));
    const worker = await scene.worker();
    await eventually('the agent is refused', () =>
      worker.stderr.includes('was not handed over by'),
    );
    expect(isMade(scene)).toBe(false);
  });

  test('is refused for an agent that was queued earlier, after a new lead has started', async () => {
    const scene = await workerScene(
      [{ match: { firstUser: 'Begin', turn: 0 }, reply: { tool_use: task } }, ...RULES],
      SOON,
    );
    const redis = await connectTo(scene);
    const first = scene.begin(['-p', 'Begin', '--session-id', 'one', ...LEAD, ...FREE]);
    await jobOf(scene);
    const old = String(await redis.call('HGET', artifacts, LEAD_CONFIG));
    first.kill('SIGKILL');
    await first.ended;
    await scene.left('one');
    const lead = scene.begin(['resume', 'one', '-p', ...LEAD, '--permission-mode', 'default']);
    const epochs = async () =>
      (await linesOf(redis, scene)).filter((line) => line.includes('"epoch.began"')).length;
    await expect.poll(epochs, { timeout: 20_000 }).toBe(2);
    const now = String(await redis.call('HGET', artifacts, LEAD_CONFIG));
    await redis.call('HSET', artifacts, LEAD_CONFIG, old);
    const worker = await scene.worker();
    await eventually('the agent is refused', () =>
      worker.stderr.includes('older than the config that its lead has published'),
    );
    expect(isMade(scene)).toBe(false);
    await redis.call('HSET', artifacts, LEAD_CONFIG, now);
    expect(await lead.ended).toMatchObject({ code: 0 });
    expect(isMade(scene)).toBe(false);
  });
});
