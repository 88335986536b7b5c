/** What workers do with jobs that they cannot do. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { queueKey, swarmKeys } from '../../../src/store/redis/connection/swarm-keys.js';
import { bash, begins, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import type { Rules } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';
import { needs } from '../../setup/needs.js';

const WHILE = { timeout: 20_000 };
const look = helper('Look');
const RULES: Rules = [...begins(look), { reply: 'There is a goose.' }];

const redisOf = async ({ redis }: WorkerScene) => {
  const broker = await connectRedis(redis.url);
  onTestFinished(() => broker.close());
  return broker;
};

/** Of somebody who does not know the first person. */
const strangers = ({ root }: WorkerScene) => {
  const home = join(root, 'stranger');
  return { env: { HOME: home, SKEIN_HOME: join(home, '.skein') } };
};

const linesWith = (text: string, part: string) =>
  text.split('\n').filter((line) => line.includes(part));

needs.describe('redis')('a worker', () => {
  test('puts aside for good, and says once, what nobody can ever do', async () => {
    const scene = await workerScene(RULES);
    const { jobs } = await scene.store();
    for (const id of ['a_1', 'a_2', 'a_3']) await jobs.add({ id, swarm: 'nosuch', addedAt: 1 });
    const redis = await redisOf(scene);
    const odd = '{"id":"../../x","swarm":"nosuch","addedAt":1}';
    await redis.call('HSET', queueKey('nosuch.a_3.0'), 'data', odd);
    const worker = await scene.worker();
    expect(await scene.run(LEAD)).toMatchObject({ code: 0, stdout: 'I see.\n' });
    const failed = async () => (await redis.call('ZRANGE', queueKey('failed'), 0, -1)) as string[];
    await expect
      .poll(async () => (await failed()).sort(), WHILE)
      .toEqual(['nosuch.a_1.0', 'nosuch.a_2.0', 'nosuch.a_3.0']);
    const why = 'There is no session "nosuch".';
    expect(await redis.call('HGET', queueKey('nosuch.a_1.0'), 'failedReason')).toBe(why);
    expect(linesWith(worker.stderr, 'put aside').sort()).toEqual([
      `a_1 of nosuch is put aside: ${why}`,
      `a_2 of nosuch is put aside: ${why}`,
      expect.stringMatching(/^nosuch\.a_3\.0 is put aside: "\.\.\/\.\.\/x" cannot be a job: /),
    ]);
    worker.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  test('tries an agent again after a growing pause, and says each time why it cannot', async () => {
    const scene = await workerScene(RULES);
    const worker = await scene.worker([], strangers(scene));
    const lead = scene.begin(LEAD);
    const redis = await redisOf(scene);
    const { jobs } = await scene.store();
    const pause = async () => {
      const [job] = await jobs.list('one');
      return job && redis.call('HGET', queueKey(`one.${job.id}.${job.at ?? 0}`), 'delay');
    };
    await expect.poll(pause, { ...WHILE, interval: 100 }).toBe('4000');
    const why = 'was started by a person whose key this worker does not know';
    expect(linesWith(worker.stderr, why)).toHaveLength(3);
    expect(linesWith(worker.stderr, ' is started')).toHaveLength(1);
    worker.kill('SIGTERM');
    await worker.ended;
    await scene.worker();
    await eventually('it goes on', () => scene.bodies().length > 2);
    expect(await lead.ended).toMatchObject({ code: 0, stdout: 'I see.\n' });
  });

  test('has its whole rate for those that it can work on', async () => {
    const other = { match: { firstUser: 'Other', turn: 0 }, reply: { tool_use: look } };
    const scene = await workerScene([...begins([look, look, look]), other, ...RULES]);
    const lead = scene.begin(LEAD);
    const { jobs } = await scene.store();
    await expect.poll(async () => (await jobs.list('one')).length, WHILE).toBe(3);
    const worker = await scene.worker(['--rate', '3'], strangers(scene));
    const refusals = () => new Set(linesWith(worker.stderr, 'does not know').map(agentIn)).size;
    await eventually('it has refused them all', () => refusals() === 3);
    // Long before the minute is over that they would count for.
    const run = ['-p', 'Other', '--session-id', 'two', ...FREE];
    expect(await scene.run(run, strangers(scene))).toMatchObject({ code: 0 });
    lead.kill('SIGKILL');
    await lead.ended;
  }, 40_000);

  test('says what happened when Redis refuses its records', async () => {
    const command = 'touch begun; while [ ! -e go ]; do sleep 0.05; done';
    const rules: Rules = [
      ...RULES.slice(0, 2),
      { match: { turn: 0 }, reply: { tool_use: bash(command) } },
      ...RULES.slice(2),
    ];
    const scene = await workerScene(rules);
    const worker = await scene.worker();
    const lead = scene.begin(LEAD);
    await eventually('it is in a call', () => existsSync(join(scene.workspace, 'begun')));
    const [agent] = await scene.agents('one', 'it is there', ({ length }) => length === 1);
    const id = String(agent?.id);
    // As a failover may do.
    await (await redisOf(scene)).call('RPOP', swarmKeys('one').journal(id));
    await writeFile(join(scene.workspace, 'go'), '');
    await eventually('it is returned', () => worker.stderr.includes(' is returned to the queue: '));
    const why = `Redis has lost 1 stored records of agent ${id}; `;
    expect(worker.stderr).toContain(`${id} of one is returned to the queue: ${why}`);
    lead.kill('SIGKILL');
    await lead.ended;
  });

  test('says that it ends when it gives back what it has', async () => {
    const scene = await workerScene([
      ...RULES.slice(0, 2),
      { reply: { text: 'There', stall: { afterEvents: 3 } } },
    ]);
    const worker = await scene.worker();
    const lead = scene.begin(LEAD);
    await eventually('it is in an answer', () => scene.bodies().length === 3);
    worker.kill('SIGTERM');
    expect((await worker.ended).stderr).toContain(
      ' is returned to the queue: The worker is closed.',
    );
    lead.kill('SIGKILL');
    await lead.ended;
  });
});

const agentIn = (line: string) => line.split(' ')[0];
