/** A swarm in a terminal, and commands in a second terminal that show and control it. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, type Line, resultsIn, setScene, unmarked } from '../../fakes/skein-process.js';

const RUNNER = JSON.stringify({
  runner: { description: 'Runs commands', prompt: 'You run commands.', tools: 'Bash, Read' },
});

const task = (prompt: string, more: object = {}) => ({
  name: 'Task',
  input: { description: `the ${prompt}`, prompt, subagent_type: 'runner', ...more },
});
const bash = (command: string) => calls('Bash', { command });

/** Two sync agents and a background agent that ask questions, and a background agent that never ends. */
const openSwarm = async () => {
  const scene = await setScene([
    {
      match: { firstUser: 'begin', turn: 0 },
      reply: {
        tool_use: [
          task('job yes'),
          task('job no'),
          task('job wait', { run_in_background: true, name: 'slow' }),
          task('job doomed', { run_in_background: true, name: 'doomed' }),
        ],
      },
    },
    { match: { firstUser: 'begin' }, reply: 'Noted.' },
    { match: { firstUser: 'job yes', turn: 0 }, reply: bash('touch yes.txt') },
    { match: { firstUser: 'job no', turn: 0 }, reply: bash('touch no.txt') },
    {
      match: { firstUser: 'job wait', turn: 0 },
      reply: bash('touch waits.txt; until [ -e go ]; do sleep 0.1; done'),
    },
    { match: { firstUser: 'job doomed', turn: 0 }, reply: calls('Read', { file_path: 'nothing' }) },
    {
      match: { firstUser: 'job doomed' },
      replies: [{ text: 'I was told to', chunkBytes: 4, chunkDelayMs: 600_000 }, 'Back again.'],
    },
    { reply: 'Done.' },
  ]);
  const flags = ['--ask', '--session-id', 'swarm', '--agents', RUNNER];
  const lead = scene.start(['-p', 'begin', '--output-format', 'json', ...flags]);
  lead.endInput();
  const json = async (...args: string[]): Promise<Line> => {
    const { code, stdout, stderr } = await scene.run([...args, '--json']);
    return { code, stderr, ...JSON.parse(stdout || '{}') };
  };
  const has = (file: string) => existsSync(join(scene.workspace, file));
  /** Requests of the agent whose first message contains `job`. */
  const requestsOf = (job: string) =>
    scene.bodies().filter(({ messages }) => JSON.stringify(messages[0]).includes(job));
  return { ...scene, lead, json, has, requestsOf };
};

test('the agents of a running swarm are listed, answered, messaged, stopped and resumed', async () => {
  const { run, start, json, lead, has, requestsOf, workspace } = await openSwarm();
  await eventually('three agents ask', () => lead.stderr.match(/skein approve q_/g)?.length === 3);
  await eventually('the fourth agent streams', () => requestsOf('job doomed').length === 2);
  const questions = (await json('inbox')).questions as Line[];
  const [swarm] = (await json('ps')).swarms as [Line];
  const agentWithTask = (description: string): Line =>
    swarm.agents.find((agent: Line) => agent.description === `the ${description}`);
  const question = (job: string): Line =>
    questions.find(({ agent }) => agent === agentWithTask(job).id) ?? {};

  // The tree has the identity and the state of each agent.
  expect(swarm).toMatchObject({ session: 'swarm', isRunning: true, pid: lead.pid });
  const facts = ({ kind, type, name, parent, depth, status, state }: Line) => ({
    kind,
    type,
    name,
    parent,
    depth,
    status,
    state,
  });
  const below = { type: 'runner', parent: swarm.lead, depth: 1, status: 'running' };
  const asking = { ...below, state: 'awaiting-permission' };
  expect(swarm.agents.map(facts)).toEqual([
    {
      kind: 'lead',
      type: null,
      name: null,
      parent: null,
      depth: 0,
      status: 'running',
      state: 'tool-running',
    },
    { kind: 'sync', name: null, ...asking },
    { kind: 'sync', name: null, ...asking },
    { kind: 'background', name: 'slow', ...asking },
    { kind: 'background', name: 'doomed', ...below, state: 'streaming' },
  ]);

  // Each agent has the reason of its wait.
  expect(swarm.agents.map(({ wait }: Line) => wait?.kind)).toEqual([
    'child',
    'permission',
    'permission',
    'permission',
    'model',
  ]);
  expect(swarm.agents[0].wait).toMatchObject({ count: 2, since: expect.stringMatching(/Z$/) });

  // A question names its agent, and an answer reaches only that agent.
  expect(question('job yes')).toMatchObject({
    tool: 'Bash',
    input: { command: 'touch yes.txt' },
    type: 'runner',
    kind: 'sync',
    agent: agentWithTask('job yes').id,
    parent: swarm.lead,
    session: 'swarm',
  });
  const following = start(['logs', 'slow', '-f', '--json']);
  await following.line(({ type }) => type === 'permission.requested');
  expect(await json('approve', question('job wait').id)).toMatchObject({ code: 0, ok: true });
  expect(await json('approve', question('job yes').id)).toMatchObject({
    code: 0,
    ok: true,
    agent: agentWithTask('job yes').id,
  });
  expect(await json('deny', question('job no').id, '--reason', 'not today')).toMatchObject({
    code: 0,
    ok: true,
    agent: agentWithTask('job no').id,
  });
  await eventually('the approved commands run', () => has('waits.txt') && has('yes.txt'));
  await eventually('the denied agent has its result', () => requestsOf('job no').length === 2);
  expect(resultsIn(requestsOf('job no')[1])[0]?.content).toContain('Reason: not today');
  expect(has('no.txt')).toBe(false);

  // A message arrives with the next request of the agent.
  expect(await json('send', 'slow', 'the readme too')).toMatchObject({ code: 0, ok: true });

  // A stop ends an agent and notifies the lead. Only a person can resume the agent.
  expect(await json('stop', 'doomed')).toMatchObject({
    code: 0,
    agent: agentWithTask('job doomed').id,
  });
  const leadReads = (text: string) =>
    eventually(`the lead reads: ${text}`, () =>
      JSON.stringify(requestsOf('begin').at(-1)).includes(text),
    );
  await leadReads('The user stopped it');
  const statuses = async () =>
    Object.fromEntries(
      ((await json('ps', 'swarm')).swarms[0].agents as Line[]).map((agent) => [
        agent.name ?? agent.description,
        agent.status as string,
      ]),
    );
  expect(await statuses()).toMatchObject({
    slow: 'running',
    doomed: 'stopped',
    'the job no': 'ended',
  });
  expect(await run(['send', 'doomed', 'go on'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('was stopped by a person; resume it'),
  });
  expect(await json('send', 'doomed', 'go on')).toEqual({
    code: 1,
    stderr: '',
    session: 'swarm',
    ok: false,
    agent: agentWithTask('job doomed').id,
    sentence: expect.stringContaining('was stopped by a person; resume it'),
  });
  expect(await run(['stop', 'nobody'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no agent "nobody". There is '),
  });
  expect(requestsOf('job doomed')).toHaveLength(2);

  // A resumed agent sends its earlier prompt byte for byte.
  expect(await json('resume', 'doomed')).toMatchObject({ code: 0, ok: true });
  await leadReads('Back again.');
  const [, before, after] = requestsOf('job doomed').map(({ messages }) => unmarked(messages));
  expect(after?.startsWith(before?.slice(0, -1) ?? '?')).toBe(true);

  await writeFile(join(workspace, 'go'), '');
  const ended = await lead.ended;
  expect(ended).toMatchObject({ code: 0, result: { result: 'Noted.', is_error: false } });
  expect(JSON.stringify(requestsOf('job wait')[1]?.messages.at(-1))).toContain('the readme too');

  // `logs -f` of an agent shows only its events and exits at its end.
  const log = await following.ended;
  expect(log.code).toBe(0);
  expect(new Set(log.lines.map(({ agent }) => agent))).toEqual(
    new Set([agentWithTask('job wait').id]),
  );
  expect(log.lines.at(-1)).toMatchObject({ type: 'agent.stopped', reason: 'end_turn' });

  // `explain` finds a call of an agent by its id.
  expect(await json('explain', 'swarm', question('job yes').call as string)).toMatchObject({
    code: 0,
    agent: agentWithTask('job yes').id,
    tool: 'Bash',
    questions: [{ answers: [{ surface: 'inbox', outcome: 'accepted' }] }],
  });
});
