/** Sessions in Redis whose lead is gone, and sessions that Redis has lost. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../src/store/redis/connection/swarm-keys.js';
import { LEAD } from '../../fakes/agents/worker-lead.js';
import { workerSceneAt } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { ownRedisServer } from '../../fakes/redis/own-redis-server.js';
import type { Rules } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const RULES: Rules = [
  { match: { lastUser: 'Wait' }, reply: { text: 'There', stall: { afterEvents: 3 } } },
  { reply: 'I see.' },
];
const LEASE = swarmKeys('one').lease('lead');

const setUp = async () => {
  const scene = await workerSceneAt(ownRedisServer(), RULES);
  const redis = await connectRedis(scene.redis.url);
  onTestFinished(() => redis.close());
  return { scene, redis };
};

/** A session that has ended, with a lease of a process on another machine. */
const leadElsewhere = async (leftMs: number) => {
  const { scene, redis } = await setUp();
  expect(await scene.run(LEAD)).toMatchObject({ code: 0 });
  const lease = { pid: 7, host: 'another-machine', marker: 'x', leaseMs: 60_000, epoch: 1 };
  const renew = () => redis.call('SET', LEASE, JSON.stringify(lease), 'PX', leftMs);
  await renew();
  return { scene, redis, renew };
};

needs.describe('own-redis')('a session in Redis', () => {
  test('is lost, and resumes without a wait, if its lead was killed on this machine', async () => {
    const { scene, redis } = await setUp();
    const lead = scene.begin(['-p', 'Wait', '--session-id', 'one']);
    await eventually('the lead streams', () => scene.bodies().length === 1);
    lead.kill('SIGKILL');
    await lead.ended;
    const [session] = (await scene.json('sessions')).sessions;
    expect(session).toMatchObject({ state: 'lost', pid: null });
    const [swarm] = (await scene.json('ps', 'one')).swarms;
    expect(swarm).toMatchObject({ isRunning: false, agents: [{ status: 'lost' }] });
    expect(Number(await redis.call('PTTL', LEASE))).toBeGreaterThan(0);
    const next = await scene.run(['-p', 'Go on', '--continue']);
    expect(next).toMatchObject({ code: 0, stdout: 'I see.\n', stderr: '' });
  });

  test('is shown with the end of its lease, and resumes after the lease of a lost lead', async () => {
    const { scene, redis } = await leadElsewhere(25_000);
    const lost = /lost, lease ends in \d+ s/;
    expect((await scene.run(['ps', 'one'])).stdout).toMatch(lost);
    expect((await scene.run(['sessions'])).stdout).toMatch(lost);
    const next = scene.begin(['-p', 'Go on', '--continue']);
    const waits = /Session one: lost, lease ends in \d+ s \(pid 7 on another-machine\)\./;
    await eventually('--continue waits', () => waits.test(next.stderr));
    expect(scene.bodies()).toHaveLength(1);
    await redis.call('DEL', LEASE);
    expect(await next.ended).toMatchObject({ code: 0, stdout: 'I see.\n' });
  });

  test('is refused if the lead on another machine renews its lease', async () => {
    const { scene, renew } = await leadElsewhere(4_000);
    const timer = setInterval(() => void renew(), 500);
    onTestFinished(() => clearInterval(timer));
    const next = await scene.run(['-p', 'Go on', '--continue']);
    expect(next).toMatchObject({ code: 2, stdout: '' });
    expect(next.stderr).toContain('The session is open on another-machine (pid 7)');
  });

  test('that Redis has lost is found as a copy by every command that needs it', async () => {
    const { scene, redis } = await setUp();
    expect(await scene.run(LEAD)).toMatchObject({ code: 0 });
    await redis.call('FLUSHALL');
    const commands = [
      ['resume', 'one', '-p'],
      ['-p', 'Go on', '--resume', 'one'],
      ['-p', 'Go on', '--continue'],
      ['ps', 'one'],
    ];
    const ends = await Promise.all(commands.map((args) => scene.run(args)));
    for (const { code, stderr } of ends) {
      expect(code).toBe(2);
      expect(stderr).toContain(`${join(scene.skeinHome, 'sessions', 'one')} is a copy`);
      expect(stderr).toContain('skein replay one --store embedded');
    }
    const replay = ['replay', 'one', '--store', 'embedded', '--json'];
    expect(await scene.run(replay)).toMatchObject({ code: 0 });
  });
});
