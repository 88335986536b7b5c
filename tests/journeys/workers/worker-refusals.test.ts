/** Jobs that a worker refuses or returns to the queue. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { queueKey, swarmKeys } from '../../../src/store/redis/connection/swarm-keys.js';
import { bash, begins, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import type { Rules } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const POLL = { timeout: 20_000 };
const look = helper('Look');
const RULES: Rules = [...begins(look), { reply: 'There is a goose.' }];

const connectTo = async ({ redis }: WorkerScene) => {
  const connection = await connectRedis(redis.url);
  onTestFinished(() => connection.close());
  return connection;
};

/** Environment of another person, who does not have the first person's key. */
const otherPerson = ({ root }: WorkerScene) => {
  const home = join(root, 'stranger');
  return { env: { HOME: home, SKEIN_HOME: join(home, '.skein') } };
};

/** Start of a line of a worker: time, host and name of the worker. */
const STAMP = /^\d{4}-\d\d-\d\dT[\d:.]+Z host=\S+ worker=\S+ /;

const linesWith = (text: string, part: string) =>
  text.split('\n').filter((line) => line.includes(part));

needs.describe('redis')('a worker', () => {
  test('fails impossible jobs permanently and reports each once', async () => {
    const scene = await workerScene(RULES);
    const { jobs } = await scene.store();
    for (const id of ['a_1', 'a_2', 'a_3']) await jobs.add({ id, swarm: 'nosuch', addedAt: 1 });
    const redis = await connectTo(scene);
    const odd = '{"id":"../../x","swarm":"nosuch","addedAt":1}';
    await redis.call('HSET', queueKey('nosuch.a_3.0'), 'data', odd);
    const worker = await scene.worker();
    expect(await scene.run(LEAD)).toMatchObject({ code: 0, stdout: 'I see.\n' });
    const failed = async () => (await redis.call('ZRANGE', queueKey('failed'), 0, -1)) as string[];
    await expect
      .poll(async () => (await failed()).sort(), POLL)
      .toEqual(['nosuch.a_1.0', 'nosuch.a_2.0', 'nosuch.a_3.0']);
    const why = 'There is no session "nosuch".';
    expect(await redis.call('HGET', queueKey('nosuch.a_1.0'), 'failedReason')).toBe(why);
    const sentences = linesWith(worker.stderr, 'put aside').map((line) => {
      expect(line).toMatch(STAMP);
      return line.replace(STAMP, '');
    });
    expect(sentences.sort()).toEqual([
      `a_1 of nosuch is put aside: ${why}`,
      `a_2 of nosuch is put aside: ${why}`,
      expect.stringMatching(/^nosuch\.a_3\.0 is put aside: "\.\.\/\.\.\/x" cannot be a job: /),
    ]);
    worker.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  test('retries a refused agent with a growing delay and reports the reason each time', async () => {
    const scene = await workerScene(RULES);
    const worker = await scene.worker([], otherPerson(scene));
    const lead = scene.begin(LEAD);
    const redis = await connectTo(scene);
    const { jobs } = await scene.store();
    const pause = async () => {
      const [job] = await jobs.list('one');
      return job && redis.call('HGET', queueKey(`one.${job.id}.${job.at ?? 0}`), 'delay');
    };
    await expect.poll(pause, { ...POLL, interval: 100 }).toBe('4000');
    const why = 'was started by a person whose key this worker does not know';
    expect(linesWith(worker.stderr, why)).toHaveLength(3);
    expect(linesWith(worker.stderr, ' is started')).toHaveLength(1);
    worker.kill('SIGTERM');
    await worker.ended;
    await scene.worker();
    await eventually('the agent runs', () => scene.bodies().length > 2);
    expect(await lead.ended).toMatchObject({ code: 0, stdout: 'I see.\n' });
  });

  test('does not count refused jobs in its rate limit', async () => {
    const other = { match: { firstUser: 'Other', turn: 0 }, reply: { tool_use: look } };
    const scene = await workerScene([...begins([look, look, look]), other, ...RULES]);
    const lead = scene.begin(LEAD);
    const { jobs } = await scene.store();
    await expect.poll(async () => (await jobs.list('one')).length, POLL).toBe(3);
    const worker = await scene.worker(['--rate', '3'], otherPerson(scene));
    const refusals = () => new Set(linesWith(worker.stderr, 'does not know').map(agentIn)).size;
    await eventually('all three agents are refused', () => refusals() === 3);
    // The run ends before the minute in which refused jobs would count.
    const run = ['-p', 'Other', '--session-id', 'two', ...FREE];
    expect(await scene.run(run, otherPerson(scene))).toMatchObject({ code: 0 });
    lead.kill('SIGKILL');
    await lead.ended;
  }, 40_000);

  test('ends an agent if Redis has lost a record without a restart, and the lead is told', async () => {
    const command = 'touch begun; while [ ! -e go ]; do sleep 0.05; done';
    const rules: Rules = [
      ...RULES.slice(0, 2),
      { match: { turn: 0 }, reply: { tool_use: bash(command) } },
      ...RULES.slice(2),
    ];
    const scene = await workerScene(rules);
    const worker = await scene.worker();
    const lead = scene.begin(LEAD);
    await eventually('the call runs', () => existsSync(join(scene.workspace, 'begun')));
    const [agent] = await scene.agents('one', 'the agent is listed', ({ length }) => length === 1);
    const id = String(agent?.id);
    await (await connectTo(scene)).call('RPOP', swarmKeys('one').journal(id));
    await writeFile(join(scene.workspace, 'go'), '');
    const { code, stderr } = await lead.ended;
    expect(code).toBe(0);
    expect(stderr).toContain('Redis has lost 1 record of this agent');
    expect(stderr).toContain(`These calls may have run: Bash ${command}`);
    expect(worker.stderr).toContain(`${id} of one is ended`);
  });

  test('reports on SIGTERM that it returns its agent to the queue', async () => {
    const scene = await workerScene([
      ...RULES.slice(0, 2),
      { reply: { text: 'There', stall: { afterEvents: 3 } } },
    ]);
    const worker = await scene.worker();
    const lead = scene.begin(LEAD);
    await eventually('the answer streams', () => scene.bodies().length === 3);
    worker.kill('SIGTERM');
    expect((await worker.ended).stderr).toContain(
      ' is returned to the queue: The worker is closed.',
    );
    lead.kill('SIGKILL');
    await lead.ended;
  });
});

const agentIn = (line: string) => line.replace(STAMP, '').split(' ')[0];
