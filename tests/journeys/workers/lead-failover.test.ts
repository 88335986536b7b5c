/** A lead that is killed or loses its lease, and the process that takes over the session. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { swarmKeys } from '../../../src/store/redis/connection/swarm-keys.js';
import { bash, begins, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { logOf, SOON, type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import { DRIVEN, type Line, type Rules, userLine } from '../../fakes/skein-process.js';
import { firstBreak } from '../../laws/prompts.js';
import { needs } from '../../setup/needs.js';

const WAITS = 'echo begun >> log; while [ ! -e go ]; do sleep 0.05; done; echo gone >> log';
const POLL = { timeout: 20_000 };
const PLACES = ['the reeds', 'the river', 'the meadow'];

const RULES: Rules = [
  ...begins(PLACES.map((place) => helper(`Look in ${place}`))),
  { match: { turn: 0, firstUser: 'meadow' }, reply: 'Nothing in the meadow.' },
  { match: { turn: 0 }, reply: { tool_use: bash(WAITS) } },
  { reply: 'There is a goose.' },
];

const leadBodies = ({ simulator }: WorkerScene): readonly Buffer[] =>
  simulator.requests
    .map(({ body }) => body)
    .filter((body) => {
      const [first] = (JSON.parse(body.toString()) as Line).messages as Line[];
      return JSON.stringify(first).includes('Begin');
    });

/** Waits until both long-running agents run and the lead waits for them. */
const untilAllRun = async (scene: WorkerScene) => {
  await eventually('both agents run', () => logOf(scene).length === 2);
  await eventually('the lead waits', () => leadBodies(scene).length >= 2);
};

/** Checks that no call ran twice, no report was lost, and no journal ended twice. */
const expectNoLoss = async (scene: WorkerScene) => {
  expect([...logOf(scene)].sort()).toEqual(['begun', 'begun', 'gone', 'gone']);
  const bodies = leadBodies(scene);
  expect(firstBreak(bodies)).toBeUndefined();
  const last = bodies.at(-1)?.toString() ?? '';
  expect(last.split('has ended.]').length - 1).toBe(3);
  const journals = await scene.journals('one');
  const ends = journals.map(
    (records) => records.filter(({ type, final }) => type === 'run.ended' && final).length,
  );
  expect(ends).toEqual([1, 1, 1, 1]);
  for (const records of journals) {
    const epochs = records.map(({ epoch }) => epoch as number);
    expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
  }
};

needs.describe('redis')('a session whose lead is killed', () => {
  test('is resumed on another machine with the reports of all agents that continued', async () => {
    const scene = await workerScene(RULES, SOON);
    await scene.worker();
    const lead = scene.begin(LEAD);
    await untilAllRun(scene);
    lead.kill('SIGKILL');
    await lead.ended;
    await writeFile(join(scene.workspace, 'go'), '');
    await scene.agents('one', 'all agents have ended without the lead', (agents) =>
      agents.every(({ status }) => status === 'ended'),
    );
    await scene.left('one');
    const resumed = await scene.run(['resume', 'one', '-p', ...FREE], await scene.elsewhere());
    expect(resumed).toMatchObject({ code: 0, stdout: 'I see.\n' });
    await expectNoLoss(scene);
  });

  test('continues under a new lead, and the old lead reports the takeover and exits', async () => {
    const scene = await workerScene(RULES, SOON);
    await scene.worker();
    const old = scene.begin(LEAD);
    await untilAllRun(scene);
    old.kill('SIGSTOP');
    await scene.left('one');
    const next = scene.begin(['resume', 'one', '-p', ...FREE], await scene.elsewhere());
    const sessions = await scene.store();
    while ((await sessions.holder('one'))?.pid !== next.pid) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    old.kill('SIGCONT');
    const { code, stderr } = await old.ended;
    expect(code).toBe(1);
    expect(stderr.match(/Another process has taken over session one/g)).toHaveLength(1);
    await writeFile(join(scene.workspace, 'go'), '');
    expect(await next.ended).toMatchObject({ code: 0, stdout: 'I see.\n' });
    await expectNoLoss(scene);
  });

  test('queues agents without a worker again, even if their jobs were withdrawn', async () => {
    const scene = await workerScene(RULES, SOON);
    const lead = scene.begin(LEAD);
    const sessions = await scene.store();
    await eventually('the lead waits', () => leadBodies(scene).length >= 2);
    lead.kill('SIGKILL');
    await lead.ended;
    // As if a process that stopped the agents died before it journaled the stop.
    const jobs = await sessions.jobs.list('one');
    for (const job of jobs) expect(await sessions.jobs.withdraw(job)).toBe(true);
    await scene.left('one');
    await writeFile(join(scene.workspace, 'go'), '');
    await scene.worker();
    expect(await scene.run(['resume', 'one', '-p', ...FREE])).toMatchObject({ code: 0 });
    expect(jobs).toHaveLength(PLACES.length);
    await expectNoLoss(scene);
  });

  test('has an agent with a job of an earlier hand-over: a worker removes that job', async () => {
    const scene = await workerScene([...begins(helper('Look')), { reply: 'A goose.' }], SOON);
    const lead = scene.begin(LEAD);
    const { jobs } = await scene.store();
    await expect.poll(async () => (await jobs.list('one')).length, POLL).toBe(1);
    lead.kill('SIGKILL');
    await lead.ended;
    const redis = await connectRedis(scene.redis.url);
    onTestFinished(() => redis.close());
    const { id = '', at = 0 } = (await jobs.list('one'))[0] ?? {};
    const key = swarmKeys('one').journal(id);
    const last = JSON.parse(String(await redis.call('LINDEX', key, -1))) as Line;
    expect(last).toMatchObject({ type: 'agent.queued', awaits: 'worker', seq: at });
    // A lead that died between the record of a hand-over and its job.
    await redis.call('RPUSH', key, JSON.stringify({ ...last, seq: at + 1 }));
    const requests = scene.bodies().length;
    const worker = await scene.worker();
    await eventually('the job is removed', () => worker.stderr.includes(`${id} of one is ended`));
    expect(await jobs.list('one')).toEqual([]);
    expect(scene.bodies()).toHaveLength(requests);
    await scene.left('one');
    const next = await scene.run(['resume', 'one', '-p', ...FREE]);
    expect(next).toMatchObject({ code: 0, stdout: 'I see.\n' });
    const [, records = []] = await scene.journals('one');
    expect(records.filter(({ type }) => type === 'run.started')).toHaveLength(1);
    expect(records.filter(({ type }) => type === 'assistant.received')).toHaveLength(1);
  });

  test('is given up by an old lead that only waits for prompts', async () => {
    const scene = await workerScene([{ reply: 'I see.' }], SOON);
    const old = scene.start([...DRIVEN, '--session-id', 'one']);
    old.say(userLine('Begin'));
    await old.line(({ type }) => type === 'result');
    old.kill('SIGSTOP');
    await scene.left('one');
    expect(await scene.run(['resume', 'one', 'Go on', '-p'])).toMatchObject({ code: 0 });
    old.kill('SIGCONT');
    const { code, stderr } = await old.ended;
    expect(stderr).toMatch(
      /^\S+Z host=\S+ session=one This process no longer owns session one: [^\n]*\n$/,
    );
    expect(code).toBe(1);
  });
});

const RESUMED_RULES: Rules = [
  ...begins(helper('Look', { name: 'scout' })),
  { match: { lastUser: 'And the swans?' }, reply: 'They are there.' },
  { reply: 'There is a goose.' },
];

/** An agent and its worker have ended. A message queues the agent again, and then its lead is killed. */
const queueAndKillLead = async () => {
  const scene = await workerScene(RESUMED_RULES, SOON);
  const worker = await scene.worker();
  const lead = scene.start([...DRIVEN, '--session-id', 'one', ...FREE]);
  lead.say(userLine('Begin'));
  await lead.line(({ subtype }) => subtype === 'task_notification');
  await eventually('the lead has the report', () => leadBodies(scene).length === 3);
  worker.kill('SIGTERM');
  await worker.ended;
  const sent = await scene.run(['send', 'scout', 'And the swans?']);
  expect(sent.stdout).toContain('had ended and is resumed with the message');
  lead.kill('SIGKILL');
  await lead.ended;
  await scene.left('one');
  return scene;
};

/** Checks that the next lead waits for the agent and receives its report. */
const expectReport = async (scene: WorkerScene) => {
  const next = scene.begin(['resume', 'one', '-p', ...FREE]);
  await eventually('the lead waits for a worker', () =>
    next.stderr.includes('No worker is running, and 1 agent'),
  );
  await scene.worker();
  expect(await next.ended).toMatchObject({ code: 0, stdout: 'I see.\n' });
  const last = leadBodies(scene).at(-1)?.toString() ?? '';
  expect(last.split('has ended.]').length - 1).toBe(2);
  expect(last.split('They are there.').length - 1).toBe(1);
};

needs.describe('redis')('an ended agent that received a message before its lead was killed', () => {
  test('is queued, and the next lead waits for it', async () => {
    const scene = await queueAndKillLead();
    const [agent] = await scene.agents('one', 'the agent is listed', ({ length }) => length === 1);
    expect(agent).toMatchObject({ status: 'queued', stop: null, endedAt: null });
    await expectReport(scene);
  });

  test('is queued by the next lead if the killed lead had not queued it', async () => {
    const scene = await queueAndKillLead();
    const { jobs } = await scene.store();
    for (const job of await jobs.list('one')) expect(await jobs.withdraw(job)).toBe(true);
    await expectReport(scene);
  });

  test('does not delay the next lead after a person has stopped it', async () => {
    const scene = await queueAndKillLead();
    expect((await scene.run(['stop', 'scout'])).stdout).toContain('is stopped');
    const next = await scene.run(['resume', 'one', '-p', 'Go on.', ...FREE]);
    expect(next).toMatchObject({ code: 0, stdout: 'I see.\n', stderr: '' });
    expect((await scene.json('ps', 'one', '--all')).swarms[0].agents[1].status).toBe('stopped');
  });
});
