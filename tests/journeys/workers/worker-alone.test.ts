/** Control of agents on workers after their lead was killed. */
import { expect, test } from 'vitest';
import { bash, begins, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { SOON, workerScene } from '../../fakes/agents/worker-scene.js';
import type { Line } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const POLL = { timeout: 20_000 };

/** Two agents that run on a worker, a third that waits for a slot there, and no lead. */
const startOrphans = async () => {
  const prompts = ['Fly', 'Swim', 'Wait'];
  const scene = await workerScene(
    [
      ...begins(prompts.map((prompt) => helper(prompt))),
      { match: { lastUser: 'Land now' }, reply: 'I have landed.' },
      { reply: { tool_use: bash('sleep 0.3; echo {{turn}}') } },
    ],
    SOON,
  );
  await scene.worker(['--concurrency', '2']);
  const lead = scene.begin(LEAD);
  const store = await scene.store();
  await expect.poll(async () => (await store.list()).length, POLL).toBe(1);
  const twoRun = (agents: readonly Line[]) =>
    agents.filter(({ turns }) => turns > 0).length === 2 && agents.length === 3;
  const agents = await scene.agents('one', 'two agents run', twoRun);
  lead.kill('SIGKILL');
  await lead.ended;
  const idOf = (prompt: string): string =>
    String(agents.find(({ description }) => description === prompt)?.id);
  const records = async (id: string) => {
    const { records: all } = await store.readJournal('one', id);
    return all as unknown as readonly Line[];
  };
  await expect.poll(() => store.holder('one'), POLL).toBeUndefined();
  return { scene, idOf, records };
};

needs.describe('redis')('an agent on a worker whose lead is gone', () => {
  test('receives messages and stops, even while it waits for a slot', async () => {
    const { scene, idOf, records } = await startOrphans();
    const [fly, swim, wait] = [idOf('Fly'), idOf('Swim'), idOf('Wait')];
    const sent = await scene.run(['send', fly, 'Land now']);
    expect([sent.code, sent.stdout]).toEqual([0, expect.stringContaining('has the message')]);
    const answers = async () => (await records(fly)).map(({ raw }) => raw).join();
    await expect.poll(answers, POLL).toContain('I have landed.');
    const letters = (await records(fly)).filter(({ type }) => type === 'letter.received');
    expect(letters.map(({ from }) => from)).toEqual([expect.stringMatching(/^a_/), 'user']);
    const stopped = await scene.run(['stop', swim]);
    expect([stopped.code, stopped.stdout]).toEqual([0, expect.stringContaining('is stopped')]);
    expect((await records(swim)).at(-1)).toMatchObject({ type: 'run.ended', reason: 'stopped' });
    await scene.run(['stop', wait]);
    const last = async () => (await records(wait)).at(-1);
    await expect.poll(last, POLL).toMatchObject({ type: 'run.ended', reason: 'stopped' });
  });
});

needs.describe('redis')('an agent in the queue whose lead is gone', () => {
  test.each([
    ['waits for a worker', {}],
    ['is delayed', { SKEIN_QUEUE_DELAY_MS: '3600000' }],
  ])('is stopped while it %s, and no worker starts it', async (_, more) => {
    const task = helper('Wait', { name: 'scout' });
    const scene = await workerScene(
      [{ match: { firstUser: 'Begin', turn: 0 }, reply: { tool_use: task } }, { reply: 'I see.' }],
      { ...SOON, ...more },
    );
    const lead = scene.begin(LEAD);
    const store = await scene.store();
    const queued = async () => (await store.jobs.list('one')).map(({ id }) => id);
    await expect.poll(async () => (await queued()).length, POLL).toBe(1);
    const [agent = ''] = await queued();
    lead.kill('SIGKILL');
    await lead.ended;
    await scene.left('one');
    const { swarms } = await scene.json('ps');
    expect(swarms).toMatchObject([{ session: 'one', isRunning: false }]);
    expect(await scene.run(['resume', agent])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Session one is not running; '),
    });
    expect(await scene.run(['send', 'scout', 'Land now'])).toMatchObject({ code: 0, stderr: '' });
    expect(await scene.run(['stop', agent])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: `${agent} is stopped; no worker had started it.\n`,
    });
    expect(await queued()).toEqual([]);
    const { records } = await store.readJournal('one', agent);
    expect(records.at(-1)).toMatchObject({ type: 'run.ended', reason: 'stopped', final: true });
    await scene.worker();
    const next = await scene.run(['-p', 'And now?', '--resume', 'one', ...FREE]);
    expect(next).toMatchObject({ code: 0, stdout: 'I see.\n' });
    const prompts = scene.bodies().map(({ messages }) => JSON.stringify(messages[0]));
    expect(prompts.filter((prompt) => !prompt.includes('Begin'))).toEqual([]);
    expect(await scene.run(['stop', agent])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Session one is not running; '),
    });
  });
});
