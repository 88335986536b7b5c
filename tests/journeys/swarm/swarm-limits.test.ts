/** Limits of swarms in real processes: few places, and runs that are killed in the middle and resumed. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { calls, type Reply, type Rules, setScene } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';

const AGENTS = JSON.stringify({
  worker: { description: 'Works', prompt: 'You work.', tools: 'Read, Task, TaskOutput' },
  brief: { description: 'Works', prompt: 'You work.', tools: 'Read', maxTurns: 2 },
});
const task = (prompt: string, more: object = {}) => ({
  name: 'Task',
  input: { description: 'x', prompt, subagent_type: 'worker', ...more },
});
const behind = (prompt: string) => task(prompt, { run_in_background: true });
const read = calls('Read', { file_path: 'notes.txt' });
const FLAGS = ['--agents', AGENTS, '--session-id', 'swarm', '--output-format', 'json'];
const AGAIN = ['-p', '--agents', AGENTS, '--resume', 'swarm', '--output-format', 'json'];

describe('with one place', () => {
  test('agents that wait for agents in the background get on, level by level', async () => {
    const asks = (firstUser: string, ...tool_use: object[]) => [
      { match: { firstUser, turn: 0 }, reply: { tool_use } as Reply },
      { match: { firstUser }, reply: `${firstUser} has heard.` },
    ];
    const scene = await setScene([
      ...asks('the lead', task('job one'), behind('job two')),
      ...asks('job one', behind('job three'), behind('job four')),
      ...asks('job two', behind('job five')),
      { reply: 'Found.' },
    ]);
    const { code, result } = await scene.run(['-p', 'the lead', ...FLAGS], {
      env: { SKEIN_MAX_CONCURRENT_AGENTS: '1' },
    });
    expect([code, result.result]).toEqual([0, 'the lead has heard.']);
    const heard = JSON.stringify(scene.bodies());
    expect([heard.includes('job one has heard.'), heard.includes('job two has heard.')]).toEqual([
      true,
      true,
    ]);
  });
});

/** Its end is never heard of. */
const endless: Reply = { text: 'I think that', chunkBytes: 4, chunkDelayMs: 600_000 };

describe('a run that is killed and resumed', () => {
  /** Killed while so many requests have been sent and the last one is being answered; then resumed. */
  const killed = async (
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
    await eventually('it thinks', () => scene.bodies().length === at);
    process.kill('SIGKILL');
    await process.ended;
    const ended = await scene.run([...AGAIN, ...flags], { env: then });
    const requestsOf = (job: string) =>
      scene.bodies().filter(({ messages }) => JSON.stringify(messages[0]).includes(job));
    return { ...ended, requestsOf, bodies: scene.bodies() };
  };

  test('leaves an agent the turns that it had left', async () => {
    const { code, result, requestsOf } = await killed(
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
    // The second was never answered, and is sent again.
    expect(requestsOf('job')).toHaveLength(3);
    expect(JSON.stringify(requestsOf('the lead').at(-1))).toContain('max_turns');
  });

  test('has the money that it had left', async () => {
    const dear = { tool_use: { name: 'Read', input: { file_path: '{{turn}}/../notes.txt' } } };
    const reads = { ...dear, usage: { output_tokens: 5_000 } };
    const { code, result } = await killed(
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

  test('has the agents that it had left', async () => {
    const { code, requestsOf } = await killed(
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

  test('takes up agents in the background though no new ones may be nested so deep', async () => {
    const { code, result, requestsOf } = await killed(
      [
        { match: { firstUser: 'the lead', turn: 0 }, reply: { tool_use: [behind('job')] } },
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
