/** Agents of a session that use the shared task list, and `skein tasks` in a second terminal. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, type Line, resultsIn, setScene } from '../../fakes/skein-process.js';

const create = (subject: string) => ({
  name: 'TaskCreate',
  input: { subject, description: `All about ${subject}` },
});
const update = (taskId: string, change: object) => calls('TaskUpdate', { taskId, ...change });
const agent = (name: string) => ({
  name: 'Task',
  input: {
    description: `the job of ${name}`,
    prompt: `job of ${name}`,
    name,
    subagent_type: 'worker',
    run_in_background: true,
  },
});
const AGENTS = JSON.stringify({
  worker: { description: 'Works', prompt: 'You work.', tools: 'Bash, TaskUpdate, TaskList' },
});
const WAIT = '#!/bin/sh\ntouch waits\nuntil [ -e go ]; do sleep 0.05; done\n';

test('two agents claim the same task, a single agent gets it, and `skein tasks` shows the owner', async () => {
  const scene = await setScene([
    {
      match: { firstUser: 'begin', turn: 0 },
      reply: { tool_use: [create('count the geese'), create('feed them')] },
    },
    { match: { firstUser: 'begin', turn: 1 }, reply: update('2', { addBlockedBy: ['1'] }) },
    {
      match: { firstUser: 'begin', turn: 2 },
      reply: { tool_use: [agent('ann'), agent('bob')] },
    },
    { match: { firstUser: 'begin' }, reply: 'Noted.' },
    { match: { firstUser: 'job of', turn: 0 }, reply: update('1', { status: 'in_progress' }) },
    {
      match: { firstUser: 'job of', toolResult: 'Task 1 is now: in_progress' },
      reply: calls('Bash', { command: './wait.sh' }),
    },
    {
      match: { firstUser: 'job of', toolResult: 'Task 1 is owned by' },
      reply: update('2', { status: 'in_progress' }),
    },
    { match: { firstUser: 'job of', toolResult: 'cannot start yet' }, reply: 'I have nothing.' },
    {
      match: { firstUser: 'job of', toolResult: 'Task 1 is now: completed' },
      reply: calls('TaskList', {}),
    },
    { match: { firstUser: 'job of', toolResult: '1. [completed]' }, reply: 'I did it.' },
    { match: { firstUser: 'job of' }, reply: update('1', { status: 'completed' }) },
  ]);
  const { workspace, run, start, bodies } = scene;
  await writeFile(join(workspace, 'wait.sh'), WAIT, { mode: 0o755 });
  const lead = start([
    '-p',
    'begin',
    '--session-id',
    'geese',
    '--agents',
    AGENTS,
    '--allowed-tools',
    'Bash(./wait.sh)',
    '--output-format',
    'json',
  ]);
  lead.endInput();
  const tasks = async (): Promise<Line> => JSON.parse((await run(['tasks', '--json'])).stdout);
  /** Result of the first call of each agent. */
  const firstResults = () =>
    ['ann', 'bob'].map((name) => {
      const requests = bodies().filter(({ messages }) =>
        JSON.stringify(messages[0]).includes(`job of ${name}`),
      );
      return requests.flatMap(resultsIn).at(0)?.content ?? '';
    });
  await eventually('an agent works on the task', () => existsSync(join(workspace, 'waits')));
  await eventually('both agents have a result', () => firstResults().every((text) => text !== ''));

  // From a second terminal while the swarm runs.
  const during = await tasks();
  const { owner } = during.tasks[0];
  expect(['ann', 'bob']).toContain(owner);
  const other = owner === 'ann' ? 'bob' : 'ann';
  const claims = Object.fromEntries(['ann', 'bob'].map((name, at) => [name, firstResults()[at]]));
  expect(claims).toEqual({
    [owner]: `Task 1 is now: in_progress, owner ${owner}.`,
    [other]: `Task 1 is owned by ${owner} (in_progress), so only ${owner} or the lead can change that. Take another one.`,
  });
  expect(during).toMatchObject({
    session: 'geese',
    isRunning: true,
    tasks: [
      {
        id: '1',
        status: 'in_progress',
        owner,
        subject: 'count the geese',
        version: 2,
        description: 'All about count the geese',
        activeForm: null,
        metadata: {},
        blockedBy: [],
        waitsFor: [],
        createdBy: 'lead',
      },
      { id: '2', status: 'pending', owner: null, blockedBy: ['1'], waitsFor: ['1'] },
    ],
  });
  const shown = await run(['tasks', 'gee']);
  expect(shown).toMatchObject({ code: 0, stderr: '' });
  expect(shown.stdout.split('\n')).toEqual([
    'geese  2 of 2 left  begin',
    '',
    'TASK  STATUS       OWNER  BLOCKED BY  SUBJECT',
    `   1  in_progress  ${owner}    -           count the geese`,
    '   2  pending      -      1           feed them',
    '',
  ]);

  await writeFile(join(workspace, 'go'), '');
  expect((await lead.ended).code).toBe(0);
  const done = await tasks();
  expect(done).toMatchObject({
    isRunning: false,
    tasks: [
      { status: 'completed', owner },
      { status: 'pending', waitsFor: [] },
    ],
  });
});

test('hooks can block the creation and the completion of a task with a reason that the model reads', async () => {
  const scene = await setScene([
    {
      match: { turn: 0 },
      reply: { tool_use: [create('fly'), create('something forbidden')] },
    },
    { match: { turn: 1 }, reply: update('1', { status: 'completed' }) },
    { reply: 'So be it.' },
  ]);
  const { home, run, bodies } = scene;
  const check = (word: string) => ({
    type: 'command',
    command: `grep -q '${word}' && { echo "no more of this" >&2; exit 2; } || exit 0`,
  });
  await mkdir(join(home, '.claude'), { recursive: true });
  await writeFile(
    join(home, '.claude', 'settings.json'),
    JSON.stringify({
      hooks: {
        TaskCreated: [{ hooks: [check('"task_subject":"something forbidden"')] }],
        TaskCompleted: [{ hooks: [check('"task_id":"1"')] }],
      },
    }),
  );
  expect((await run(['-p', 'begin'])).code).toBe(0);
  const results = bodies()
    .flatMap(resultsIn)
    .map(({ content }) => content);
  expect(results).toEqual([
    'Task 1 created: fly',
    'The task was not created. A hook says: no more of this',
    'The task was not completed. A hook says: no more of this',
  ]);
  const { stdout } = await run(['tasks', '--json']);
  expect(JSON.parse(stdout).tasks).toMatchObject([{ id: '1', subject: 'fly', status: 'pending' }]);
});

test('skein tasks prints a notice for a session without tasks and fails for an unknown session', async () => {
  const { run } = await setScene([{ reply: 'Hello.' }]);
  await run(['-p', 'hello', '--session-id', 'past']);
  expect(await run(['tasks'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'past has no tasks.\n',
  });
  expect(JSON.parse((await run(['tasks', '--json'])).stdout)).toEqual({
    session: 'past',
    isRunning: false,
    tasks: [],
  });
  expect(await run(['tasks', 'nope'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: 'skein: There is no session "nope"; `skein sessions --all` lists them.\n',
  });
});
