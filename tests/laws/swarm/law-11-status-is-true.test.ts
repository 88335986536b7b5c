/**
 * Law 11 with real processes: the shown status of an agent is true, even if its owner was killed.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { type Line, openScene, type Rules, resultsIn } from '../../fakes/skein-process.js';

const AGENTS = JSON.stringify({ helper: { description: 'Helps', prompt: 'You help.' } });

const task = (name: string, background: boolean) => ({
  name: 'Task',
  input: {
    description: name,
    prompt: `job ${name}`,
    subagent_type: 'helper',
    name,
    run_in_background: background,
  },
});
/** First answer that never ends, and another answer for a later request. */
const stalled = (name: string) => ({
  match: { firstUser: `job ${name}` },
  replies: [{ text: 'I begin', chunkBytes: 2, chunkDelayMs: 600_000 }, `${name} is done.`],
});

const RULES: Rules = [
  {
    match: { firstUser: 'begin', turn: 0 },
    reply: { tool_use: [task('lost', true), task('stopped', true), task('awaited', false)] },
  },
  {
    match: { lastUser: 'again' },
    reply: {
      tool_use: [
        { name: 'TaskOutput', input: { task_id: 'stopped', block: false } },
        { name: 'Bash', input: { command: 'touch held; until [ -e go ]; do sleep 0.05; done' } },
      ],
    },
  },
  { match: { firstUser: 'begin' }, reply: 'Noted.' },
  ...['lost', 'stopped', 'awaited'].map(stalled),
];

/** Two processes own a session in turn, and the first is killed. */
const runTwoOwners = async () => {
  const scene = await openScene(RULES);
  const { start, run, workspace } = scene;
  const json = async (...args: string[]) =>
    JSON.parse((await run([...args, '--json'])).stdout) as Line;
  const readStatuses = async () => {
    const { isRunning, agents } = (await json('ps', 'law')).swarms[0] as Line;
    const statuses = (agents as Line[]).map(({ name, status }) => [name ?? 'lead', status]);
    return { isRunning, ...Object.fromEntries(statuses) } as Record<string, unknown>;
  };
  const requestsOf = (name: string) =>
    scene.bodies().filter(({ messages }) => JSON.stringify(messages[0]).includes(`job ${name}`));
  const common = ['--allowed-tools', 'Bash', '--agents', AGENTS];

  const first = start(['-p', 'begin', '--session-id', 'law', ...common]);
  first.endInput();
  await eventually('all three are answered', () =>
    ['lost', 'stopped', 'awaited'].every((name) => requestsOf(name).length === 1),
  );
  const alive = await readStatuses();
  const events = (await run(['logs', 'law', '--json'])).lines;
  await run(['stop', 'stopped']);
  const afterStop = await readStatuses();
  first.kill('SIGKILL');
  await first.ended;
  const killed = await readStatuses();

  const second = start(['-p', 'again', '--resume', 'law', ...common]);
  second.endInput();
  await eventually('the lead continues', () => existsSync(join(workspace, 'held')));
  await eventually('the lost agent continues', () => requestsOf('lost').length === 2);
  const resumed = await readStatuses();
  const requestsAfterResume = requestsOf('stopped').length;
  const letter = await run(['send', 'stopped', 'wake up']);
  const requestsAfterLetter = requestsOf('stopped').length;
  const byPerson = await json('resume', 'stopped');
  await eventually('the stopped agent continues', () => requestsOf('stopped').length === 2);
  await writeFile(join(workspace, 'go'), '');
  const { code } = await second.ended;
  const ended = await readStatuses();
  const results = scene.bodies().flatMap((body) => resultsIn(body));
  const seen = {
    events,
    alive,
    afterStop,
    killed,
    resumed,
    requestsAfterResume,
    letter,
    requestsAfterLetter,
  };
  return { ...scene, ...seen, byPerson, code, ended, results };
};

describe('law 11, status is true', () => {
  let seen: Awaited<ReturnType<typeof runTwoOwners>>;
  beforeAll(async () => {
    seen = await runTwoOwners();
  });
  afterAll(() => seen.close());

  test('a spawn is acknowledged after the first record of the child', () => {
    const { events } = seen;
    const ended = events.filter(({ type, tool }) => type === 'tool.ended' && tool === 'Task');
    expect(ended).toHaveLength(2);
    for (const { call, seq } of ended) {
      const born = events.find(
        ({ type, origin }) => type === 'agent.spawned' && origin?.call === call,
      );
      expect(born?.seq).toBeLessThan(seq as number);
    }
  });

  test('agents of a living owner are running', () => {
    expect(seen.alive).toEqual({
      isRunning: true,
      lead: 'running',
      lost: 'running',
      stopped: 'running',
      awaited: 'running',
    });
  });

  test('only the stopped agent is stopped', () => {
    expect(seen.afterStop).toEqual({ ...seen.alive, stopped: 'stopped' });
  });

  test('all agents that had not ended are lost when the owner was killed', () => {
    expect(seen.killed).toEqual({
      isRunning: false,
      lead: 'lost',
      lost: 'lost',
      stopped: 'stopped',
      awaited: 'lost',
    });
  });

  test('lost agents continue when the session is resumed', () => {
    expect(seen.code).toBe(0);
    const lastRequest = JSON.stringify(seen.bodies().at(-1));
    for (const name of ['lost', 'awaited']) expect(lastRequest).toContain(`${name} is done.`);
  });

  test('an agent that a person stopped is resumed by no process, no letter and no model', () => {
    const { resumed, requestsAfterResume, requestsAfterLetter, letter, results } = seen;
    expect([resumed.stopped, requestsAfterResume, requestsAfterLetter]).toEqual(['stopped', 1, 1]);
    expect(letter).toMatchObject({ code: 1, stdout: '' });
    expect(letter.stderr).toContain('was stopped by a person; resume it first.');
    expect(JSON.stringify(results)).toContain('The user stopped it');
  });

  test('an agent that a person stopped continues when a person resumes it', () => {
    expect(seen.byPerson).toMatchObject({ ok: true });
    expect(JSON.stringify(seen.bodies().at(-1))).toContain('stopped is done.');
    expect(seen.ended).toEqual({
      isRunning: false,
      lead: 'ended',
      lost: 'ended',
      stopped: 'ended',
      awaited: 'ended',
    });
  });
});
