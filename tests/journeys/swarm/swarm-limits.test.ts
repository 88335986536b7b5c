/** Limits of swarms in real processes: a single concurrency slot, and runs that are killed and resumed. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, type Reply, type Rules, setScene } from '../../fakes/skein-process.js';

const AGENTS = JSON.stringify({
  worker: { description: 'Works', prompt: 'You work.', tools: 'Read, Task, TaskOutput' },
  brief: { description: 'Works', prompt: 'You work.', tools: 'Read', maxTurns: 2 },
});
const task = (prompt: string, more: object = {}) => ({
  name: 'Task',
  input: { description: 'x', prompt, subagent_type: 'worker', ...more },
});
const inBackground = (prompt: string) => task(prompt, { run_in_background: true });
const read = calls('Read', { file_path: 'notes.txt' });
const FLAGS = ['--agents', AGENTS, '--session-id', 'swarm', '--output-format', 'json'];
const RESUME = ['-p', '--agents', AGENTS, '--resume', 'swarm', '--output-format', 'json'];

describe('a swarm with a single concurrency slot', () => {
  test('finishes although agents wait for background agents on several levels', async () => {
    const parent = (firstUser: string, ...tool_use: object[]) => [
      { match: { firstUser, turn: 0 }, reply: { tool_use } as Reply },
      { match: { firstUser }, reply: `${firstUser} has heard.` },
    ];
    const scene = await setScene([
      ...parent('the lead', task('job one'), inBackground('job two')),
      ...parent('job one', inBackground('job three'), inBackground('job four')),
      ...parent('job two', inBackground('job five')),
      { reply: 'Found.' },
    ]);
    const { code, result } = await scene.run(['-p', 'the lead', ...FLAGS], {
      env: { SKEIN_MAX_CONCURRENT_AGENTS: '1' },
    });
    expect([code, result.result]).toEqual([0, 'the lead has heard.']);
    const sent = JSON.stringify(scene.bodies());
    expect([sent.includes('job one has heard.'), sent.includes('job two has heard.')]).toEqual([
      true,
      true,
    ]);
  });
});

/** A response that never ends. */
const endless: Reply = { text: 'I think that', chunkBytes: 4, chunkDelayMs: 600_000 };

describe('a run that is killed and resumed', () => {
  /** Kills the run after `at` requests, while the last response streams, and resumes it with env `then`. */
  const killAndResume = async (
    rules: Rules,
    at: number,
    flags: readonly string[] = [],
    env = {},
    then = env,
  ) => {
    const scene = await setScene(rules);
    await writeFile(join(scene.workspace, 'notes.txt'), 'A line.\n');
    const process = scene.start(['-p', 'the lead', ...FLAGS, ...flags], { env });
    process.endInput();
    await eventually('the last request is sent', () => scene.bodies().length === at);
    process.kill('SIGKILL');
    await process.ended;
    const ended = await scene.run([...RESUME, ...flags], { env: then });
    const requestsOf = (job: string) =>
      scene.bodies().filter(({ messages }) => JSON.stringify(messages[0]).includes(job));
    return { ...ended, requestsOf, bodies: scene.bodies() };
  };

  test('keeps the remaining turns of an agent', async () => {
    const { code, result, requestsOf } = await killAndResume(
      [
        {
          match: { firstUser: 'the lead', turn: 0 },
          reply: { tool_use: [task('job', { subagent_type: 'brief' })] },
        },
        { match: { firstUser: 'the lead' }, reply: 'It was cut short.' },
        { match: { turn: 1 }, replies: [endless, read] },
        { reply: read },
      ],
      3,
    );
    expect([code, result.result]).toEqual([0, 'It was cut short.']);
    // The second request had no complete answer, so it is sent again.
    expect(requestsOf('job')).toHaveLength(3);
    expect(JSON.stringify(requestsOf('the lead').at(-1))).toContain('max_turns');
  });

  test('keeps the remaining budget', async () => {
    const dear = { tool_use: { name: 'Read', input: { file_path: '{{turn}}/../notes.txt' } } };
    const reads = { ...dear, usage: { output_tokens: 5_000 } };
    const { code, result } = await killAndResume(
      [{ match: { turn: 2 }, replies: [endless, reads] }, { reply: reads }],
      3,
      ['--max-budget-usd', '0.5'],
    );
    expect(code).toBe(3);
    const { total_cost_usd: cost, budget_overshoot_usd: over = 0 } = result;
    expect(cost).toBeGreaterThan(0.3);
    expect(cost).toBeLessThanOrEqual(0.5 + over + 1e-9);
    expect(over).toBeLessThan(0.2);
  });

  test('keeps the number of agents that it may still start', async () => {
    const { code, requestsOf } = await killAndResume(
      [
        { match: { firstUser: 'the lead', turn: 0 }, reply: { tool_use: [task('job')] } },
        {
          match: { firstUser: 'the lead', turn: 1 },
          replies: [endless, { tool_use: [task('job')] }],
        },
        { reply: 'Done.' },
      ],
      3,
      [],
      { SKEIN_MAX_AGENTS: '1' },
    );
    expect([code, requestsOf('job').length]).toEqual([0, 1]);
    expect(JSON.stringify(requestsOf('the lead').at(-1))).toContain('has started 1 agent');
  });

  test('resumes background agents even if the depth limit now allows no new agents', async () => {
    const { code, result, requestsOf } = await killAndResume(
      [
        { match: { firstUser: 'the lead', turn: 0 }, reply: { tool_use: [inBackground('job')] } },
        { match: { firstUser: 'the lead', lastUser: 'Found.' }, reply: 'I have heard.' },
        { match: { firstUser: 'the lead' }, reply: 'I wait.' },
        { replies: [endless, 'Found.'] },
      ],
      3,
      [],
      {},
      { SKEIN_MAX_DEPTH: '0' },
    );
    expect([code, result.result, requestsOf('job').length]).toEqual([0, 'I have heard.', 2]);
  });
});
