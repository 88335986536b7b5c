/** A lead that dies or is taken for dead, and the process that goes on in its place. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bash, begins, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { logOf, SOON, type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { DRIVEN, type Line, type Rules, userLine } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';
import { firstBreak } from '../../laws/prompts.js';
import { needs } from '../../setup/needs.js';

const WAITS = 'echo begun >> log; while [ ! -e go ]; do sleep 0.05; done; echo gone >> log';
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

/** Both of those that look for long are at work, and the lead has said that it waits. */
const underWay = async (scene: WorkerScene) => {
  await eventually('they are at work', () => logOf(scene).length === 2);
  await eventually('the lead waits', () => leadBodies(scene).length >= 2);
};

const expectWhole = async (scene: WorkerScene) => {
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
  test('is resumed on another machine with all reports of those that worked on', async () => {
    const scene = await workerScene(RULES, SOON);
    await scene.worker();
    const lead = scene.begin(LEAD);
    await underWay(scene);
    lead.kill('SIGKILL');
    await lead.ended;
    await writeFile(join(scene.workspace, 'go'), '');
    await scene.agents('one', 'all have ended without it', (agents) =>
      agents.every(({ status }) => status === 'ended'),
    );
    await scene.left('one');
    const resumed = await scene.run(['resume', 'one', '-p', ...FREE], await scene.elsewhere());
    expect(resumed).toMatchObject({ code: 0, stdout: 'I see.\n' });
    await expectWhole(scene);
  });

  test('goes on under another lead, and the old one says so when it wakes, and ends', async () => {
    const scene = await workerScene(RULES, SOON);
    await scene.worker();
    const old = scene.begin(LEAD);
    await underWay(scene);
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
    await expectWhole(scene);
  });

  test('hands over again whom nobody has, also where a job of theirs is over', async () => {
    const scene = await workerScene(RULES, SOON);
    const lead = scene.begin(LEAD);
    const sessions = await scene.store();
    await eventually('the lead waits', () => leadBodies(scene).length >= 2);
    lead.kill('SIGKILL');
    await lead.ended;
    // Whoever stopped it died before that was on record.
    const jobs = await sessions.jobs.list('one');
    for (const job of jobs) expect(await sessions.jobs.withdraw(job)).toBe(true);
    await scene.left('one');
    await writeFile(join(scene.workspace, 'go'), '');
    await scene.worker();
    expect(await scene.run(['resume', 'one', '-p', ...FREE])).toMatchObject({ code: 0 });
    expect(jobs).toHaveLength(PLACES.length);
    await expectWhole(scene);
  });

  test('is given up by one who only waits for prompts there', async () => {
    const scene = await workerScene([{ reply: 'I see.' }], SOON);
    const old = scene.start([...DRIVEN, '--session-id', 'one']);
    old.say(userLine('Begin'));
    await old.line(({ type }) => type === 'result');
    old.kill('SIGSTOP');
    await scene.left('one');
    expect(await scene.run(['resume', 'one', 'Go on', '-p'])).toMatchObject({ code: 0 });
    old.kill('SIGCONT');
    const { code, stderr } = await old.ended;
    expect(stderr).toMatch(/^skein: Another process has had session one since, [^\n]*\n$/);
    expect(code).toBe(1);
  });
});

const CALLED: Rules = [
  ...begins(helper('Look', { name: 'scout' })),
  { match: { lastUser: 'And the swans?' }, reply: 'They are there.' },
  { reply: 'There is a goose.' },
];

/** An agent has ended and its worker too; it is written to, and its lead is killed before anybody has begun it. */
const calledBack = async () => {
  const scene = await workerScene(CALLED, SOON);
  const worker = await scene.worker();
  const lead = scene.start([...DRIVEN, '--session-id', 'one', ...FREE]);
  lead.say(userLine('Begin'));
  await lead.line(({ subtype }) => subtype === 'task_notification');
  await eventually('the lead has heard of it', () => leadBodies(scene).length === 3);
  worker.kill('SIGTERM');
  await worker.ended;
  const sent = await scene.run(['send', 'scout', 'And the swans?']);
  expect(sent.stdout).toContain('had ended and is resumed with the message');
  lead.kill('SIGKILL');
  await lead.ended;
  await scene.left('one');
  return scene;
};

/** The next lead waits for it, and is told. */
const expectTold = async (scene: WorkerScene) => {
  const next = scene.begin(['resume', 'one', '-p', ...FREE]);
  await eventually('it waits', () => next.stderr.includes('No worker is running, and 1 agent'));
  await scene.worker();
  expect(await next.ended).toMatchObject({ code: 0, stdout: 'I see.\n' });
  const last = leadBodies(scene).at(-1)?.toString() ?? '';
  expect(last.split('has ended.]').length - 1).toBe(2);
  expect(last.split('They are there.').length - 1).toBe(1);
};

needs.describe('redis')(
  'an agent that had ended and was written to before its lead was killed',
  () => {
    test('is waited for by the next lead', async () => {
      const scene = await calledBack();
      const [agent] = await scene.agents('one', 'it is there', ({ length }) => length === 1);
      expect(agent).toMatchObject({ status: 'queued', stop: null, endedAt: null });
      await expectTold(scene);
    });

    test('is handed over by the next lead if the last one had not come to that', async () => {
      const scene = await calledBack();
      const { jobs } = await scene.store();
      for (const job of await jobs.list('one')) expect(await jobs.withdraw(job)).toBe(true);
      await expectTold(scene);
    });

    test('is waited for no more when a person has stopped it', async () => {
      const scene = await calledBack();
      expect((await scene.run(['stop', 'scout'])).stdout).toContain('is stopped');
      const next = await scene.run(['resume', 'one', '-p', 'Go on.', ...FREE]);
      expect(next).toMatchObject({ code: 0, stdout: 'I see.\n', stderr: '' });
      expect((await scene.json('ps', 'one', '--all')).swarms[0].agents[1].status).toBe('stopped');
    });
  },
);
