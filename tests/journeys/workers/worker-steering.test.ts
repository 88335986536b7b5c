/** Agents on workers: messages, stops and resumes from another terminal, and letters between agents. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectRedis } from '../../../src/store/redis/connection/redis-connections.js';
import { bash, begins, FREE, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { type WorkerScene, workerScene } from '../../fakes/agents/worker-scene.js';
import { eventually } from '../../fakes/eventually.js';
import {
  DRIVEN,
  type Line,
  type Rules,
  type Running,
  userLine,
} from '../../fakes/skein-process.js';
import { firstBreak } from '../../laws/prompts.js';
import { needs } from '../../setup/needs.js';

const WAITS = 'touch begun; while [ ! -e go ]; do sleep 0.05; done; echo gone';
const scout = (prompt: string, name = 'scout') => helper(prompt, { name });

const RULES: Rules = [
  ...begins(scout('Find the geese')),
  { match: { lastUser: 'And the swans?' }, reply: 'They are there.' },
  { match: { turn: 0 }, reply: { text: 'I look around.', tool_use: bash(WAITS) } },
  { reply: 'They are here.' },
];

/** Starts a lead that stays open after its first result. */
const startLead = (scene: WorkerScene): Running => {
  const lead = scene.start([...DRIVEN, '--session-id', 'one', ...FREE]);
  lead.say(userLine('Begin'));
  return lead;
};

const endLead = async (lead: Running) => {
  lead.endInput();
  expect(await lead.ended).toMatchObject({ code: 0 });
};

const isMade = ({ workspace }: WorkerScene, name: string) => existsSync(join(workspace, name));

const bodiesFor = ({ simulator }: WorkerScene, prompt: string): readonly Buffer[] =>
  simulator.requests
    .map(({ body }) => body)
    .filter((body) => {
      const [first] = (JSON.parse(body.toString()) as Line).messages as Line[];
      return JSON.stringify(first).includes(prompt);
    });

const times = (text: string, part: string) => text.split(part).length - 1;

const isNotification = (status: string, summary: string) => (line: Line) =>
  line.subtype === 'task_notification' && line.status === status && line.summary === summary;

needs.describe('redis')('an agent on a worker', () => {
  test('is stopped, resumed and messaged from another terminal', async () => {
    const scene = await workerScene(RULES);
    await scene.worker();
    const lead = startLead(scene);
    await eventually('the agent runs', () => isMade(scene, 'begun'));
    expect(await scene.run(['stop', 'scout'])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('is stopped, with all its sub-agents'),
    });
    await lead.line(isNotification('stopped', 'I look around.'));
    expect(await scene.run(['send', 'scout', 'And the swans?'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('was stopped by a person; resume it first'),
    });
    expect(await scene.run(['resume', 'scout'])).toMatchObject({ code: 0, stderr: '' });
    await lead.line(isNotification('completed', 'They are here.'));
    expect(await scene.run(['send', 'scout', 'And the swans?'])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('had ended and is resumed with the message'),
    });
    await lead.line(isNotification('completed', 'They are there.'));
    const requests = bodiesFor(scene, 'Find the geese');
    expect(firstBreak(requests)).toBeUndefined();
    expect(times(requests.at(-1)?.toString() ?? '', 'And the swans?')).toBe(1);
    await endLead(lead);
  });

  test('receives a message once while it runs', async () => {
    const scene = await workerScene(RULES);
    await scene.worker();
    const lead = startLead(scene);
    await eventually('the agent runs', () => isMade(scene, 'begun'));
    expect(await scene.run(['send', 'scout', 'And the swans?'])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('has the message and reads it'),
    });
    await writeFile(join(scene.workspace, 'go'), '');
    await lead.line(isNotification('completed', 'They are there.'));
    const requests = bodiesFor(scene, 'Find the geese');
    expect(requests).toHaveLength(2);
    expect(times(requests.at(-1)?.toString() ?? '', 'And the swans?')).toBe(1);
    await endLead(lead);
  });

  test('is stopped by its lead, which gets the partial result', async () => {
    const scene = await workerScene([
      { match: { firstUser: 'Begin', turn: 1 }, reply: { tool_use: bash(UNTIL_BEGUN) } },
      {
        match: { firstUser: 'Begin', turn: 2 },
        reply: { tool_use: { name: 'TaskStop', input: { task_id: 'scout' } } },
      },
      ...RULES,
    ]);
    await scene.worker();
    const { code, result } = await scene.run([...LEAD, '--output-format', 'json']);
    expect({ code, result: result.result }).toEqual({ code: 0, result: 'I see.' });
    const [lastBody] = scene.bodies().filter(({ messages }) => messages.length === 7);
    expect(JSON.stringify(lastBody?.messages.at(-1))).toContain('I look around.');
    expect(isMade(scene, 'go')).toBe(false);
  });
});

const UNTIL_BEGUN = 'while [ ! -e begun ]; do sleep 0.05; done';
const UNTIL_ENDED = 'while [ ! -e ended ]; do sleep 0.05; done';

needs.describe('redis')('a queued agent', () => {
  test('is stopped in the queue and never starts', async () => {
    const scene = await workerScene(RULES);
    const lead = startLead(scene);
    await lead.line(({ subtype }) => subtype === 'task_started');
    await lead.line(({ type }) => type === 'assistant');
    expect(await scene.run(['stop', 'scout'])).toMatchObject({ code: 0, stderr: '' });
    await lead.line(isNotification('stopped', ''));
    const { jobs } = await scene.store();
    expect(await jobs.list('one')).toEqual([]);
    await endLead(lead);
    expect(bodiesFor(scene, 'Find the geese')).toEqual([]);
  });
});

needs.describe('redis')('an agent whose worker has just died', () => {
  test('can be stopped although the lease of the worker is still valid', async () => {
    const scene = await workerScene(RULES, { SKEIN_LEASE_MS: '60000' });
    const worker = await scene.worker();
    const lead = startLead(scene);
    await eventually('the agent runs', () => isMade(scene, 'begun'));
    const [agent] = await scene.agents('one', 'the agent is listed', ({ length }) => length === 1);
    worker.kill('SIGKILL');
    await worker.ended;
    // As if the job lock had expired, which happens before the lease expires.
    const redis = await connectRedis(scene.redis.url);
    onTestFinished(() => redis.close());
    await redis.call('DEL', ...((await redis.call('KEYS', '*:lock')) as string[]));
    const stopped = await scene.run(['stop', agent?.id as string]);
    expect(stopped).toMatchObject({ code: 0, stderr: '' });
    const [after] = await scene.agents('one', 'the agent is listed', ({ length }) => length === 1);
    expect(after).toMatchObject({ id: agent?.id, status: 'stopped' });
    await endLead(lead);
  });
});

const sendMessage = (to: string, message: string) => ({
  tool_use: { name: 'SendMessage', input: { to, message } },
});

needs.describe('redis')('agents on two workers', () => {
  test('send letters to each other and to their lead, and each letter is read once', async () => {
    const scene = await workerScene([
      {
        match: { firstUser: 'Begin', turn: 0 },
        reply: { tool_use: [scout('Ask the other', 'asker'), scout('Wait and see', 'waiter')] },
      },
      { match: { firstUser: 'Begin', lastUser: 'A word for you' }, reply: 'I have it.' },
      {
        match: { firstUser: 'Begin', lastUser: 'I have told' },
        reply: { tool_use: bash('touch ended') },
      },
      { match: { firstUser: 'Begin' }, reply: 'I see.' },
      { match: { firstUser: 'Wait', turn: 0 }, reply: { tool_use: bash(WAITS) } },
      {
        match: { firstUser: 'Wait', lastUser: 'Where are the geese?' },
        reply: sendMessage('asker', 'They are in the reeds.'),
      },
      { match: { firstUser: 'Wait', lastUser: 'Are you sure?' }, reply: 'I am.' },
      { match: { firstUser: 'Wait' }, reply: 'I have told.' },
      { match: { firstUser: 'Ask', turn: 0 }, reply: { tool_use: bash(UNTIL_BEGUN) } },
      {
        match: { firstUser: 'Ask', turn: 1 },
        reply: sendMessage('waiter', 'Where are the geese?'),
      },
      { match: { firstUser: 'Ask', turn: 2 }, reply: sendMessage('lead', 'A word for you') },
      {
        match: { firstUser: 'Ask', turn: 3 },
        reply: { tool_use: bash(`touch go; ${UNTIL_ENDED}`) },
      },
      { match: { firstUser: 'Ask', turn: 4 }, reply: sendMessage('waiter', 'Are you sure?') },
      { match: { firstUser: 'Ask' }, reply: 'I know.' },
    ]);
    const workers = await Promise.all([
      scene.worker(['--concurrency', '1']),
      scene.worker(['--concurrency', '1']),
    ]);
    expect(await scene.run(LEAD)).toMatchObject({ code: 0 });
    for (const { stderr } of workers) expect(times(stderr, 'is started')).toBeGreaterThan(0);
    const last = (prompt: string) => bodiesFor(scene, prompt).at(-1)?.toString() ?? '';
    expect(times(last('Wait and see'), 'Where are the geese?')).toBe(1);
    expect(times(last('Wait and see'), 'Are you sure?')).toBe(1);
    expect(times(last('Begin'), 'A word for you')).toBe(1);
    expect(times(last('Ask the other'), 'They are in the reeds.')).toBe(1);
  });
});
