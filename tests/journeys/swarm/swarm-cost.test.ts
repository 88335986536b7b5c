/** Cost of a swarm: output of the command line compared with the bill of the simulator. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { windowTokens } from '../../../src/protocol/model/usage.js';
import { type Line, type Reply, resultsIn, STREAM, setScene } from '../../fakes/skein-process.js';

const explorers = (count: number): Reply => ({
  tool_use: Array.from({ length: count }, (_, at) => ({
    name: 'Task',
    input: {
      description: `part ${at}`,
      prompt: `Explore ${at} of {{turn}}.`,
      subagent_type: 'explorer',
    },
  })),
});

/** Two fan-outs of twelve explorers that read a file twice and report. Each answer has `output_tokens`. */
const setFanOutScene = async (output_tokens: number) => {
  const usage = { output_tokens };
  const read = { name: 'Read', input: { file_path: 'notes.txt' } };
  const reads: Reply = { text: 'Looking.', usage, tool_use: read };
  const scene = await setScene([
    { match: { firstUser: 'Fan out', turn: { max: 1 } }, reply: explorers(12) },
    { match: { firstUser: 'Fan out' }, reply: 'All done.' },
    { match: { firstUser: 'Explore', turn: { max: 1 } }, reply: reads },
    { match: { firstUser: 'Explore' }, reply: { text: 'Found it.', usage } },
  ]);
  await writeFile(join(scene.workspace, 'notes.txt'), 'A line of notes.\n'.repeat(300));
  return scene;
};

/** Total cost of the agents of each fan-out, in order. */
const fanOutCosts = (lines: readonly Line[]): readonly number[] => {
  const costs = lines.flatMap((line) =>
    line.subtype === 'task_notification' ? [line.cost_usd] : [],
  );
  return [costs.slice(0, 12), costs.slice(12)].map((part) => part.reduce((a, b) => a + b, 0));
};

test('the cost of all agents is counted, and a large fan-out is announced with a cost estimate', async () => {
  const { run, simulator } = await setFanOutScene(300);
  const { code, lines, result } = await run(['-p', 'Fan out.', ...STREAM]);
  expect([code, result.result]).toEqual([0, 'All done.']);
  const { cost = 0, messages } = simulator.totals;
  expect([messages, result.total_cost_usd]).toEqual([75, expect.closeTo(cost, 9)]);
  const report = JSON.parse((await run(['cost', result.session_id, '--json'])).stdout) as Line;
  expect(report.total.costUsd).toBeCloseTo(cost, 9);
  expect(report.agents).toHaveLength(25);
  const previews = lines.filter(({ subtype }) => subtype === 'task_preview');
  expect(previews.map(({ count }) => count)).toEqual([12, 12]);
  const [firstEstimate, secondEstimate] = previews.map(({ cost_usd }) => cost_usd);
  const [first = 0, second = 0] = fanOutCosts(lines);
  expect([firstEstimate[0] <= first, first <= firstEstimate[1]]).toEqual([true, true]);
  expect([secondEstimate[0] * 0.9 <= second, second <= secondEstimate[1] * 1.1]).toEqual([
    true,
    true,
  ]);
});

test('an agent with its own budget stops when it is used up, and its lead continues', async () => {
  const spender = {
    description: 'Spends',
    prompt: 'You spend.',
    tools: 'Read',
    maxBudgetUsd: 0.05,
  };
  const usage = { output_tokens: 2_000 };
  const scene = await setScene([
    {
      match: { firstUser: 'begin', turn: 0 },
      reply: {
        tool_use: ['spender', 'explorer'].map((subagent_type) => ({
          name: 'Task',
          input: { description: subagent_type, prompt: 'Work.', subagent_type },
        })),
      },
    },
    { match: { firstUser: 'begin' }, reply: 'All done.' },
    {
      match: { firstUser: 'Work', turn: { max: 4 } },
      reply: { text: 'On it.', usage, tool_use: { name: 'Read', input: { file_path: 'a.txt' } } },
    },
    { match: { firstUser: 'Work' }, reply: { text: 'Worked.', usage } },
  ]);
  await writeFile(join(scene.workspace, 'a.txt'), 'x\n');
  const agents = ['--agents', JSON.stringify({ spender })];
  const { code, lines, result } = await scene.run(['-p', 'begin', ...agents, ...STREAM]);
  expect([code, result.result]).toEqual([0, 'All done.']);
  const ends = lines.filter(({ subtype }) => subtype === 'task_notification');
  const endOf = (type: string): Line => ends.find((end) => end.subagent_type === type) ?? {};
  expect(endOf('explorer')).toMatchObject({ status: 'completed' });
  expect(endOf('spender')).toMatchObject({ status: 'failed' });
  expect(endOf('spender').cost_usd).toBeGreaterThan(0.02);
  expect(endOf('spender').cost_usd).toBeLessThan(endOf('explorer').cost_usd);
  const read = JSON.stringify(resultsIn(scene.bodies().at(-1)));
  expect(read).toContain("The agent's share of the budget, $0.05, is used up");
});

test('a budget ends all agents with exit code 3, and stderr shows the amount above the budget', async () => {
  const { run, simulator } = await setFanOutScene(9_000);
  const { code, stderr } = await run(['-p', 'Fan out.', '--max-budget-usd', '0.4']);
  const { cost = 0 } = simulator.totals;
  expect(code).toBe(3);
  expect(stderr).toMatch(/^skein: \(12 agents on claude-sonnet-5-5: \$[\d.]+ to \$[\d.]+ with/m);
  expect(stderr).toContain('12 of 12 agents done, 12 of them failed');
  expect(stderr).toContain(`stopped (budget): The budget of $0.4 is used up: $${cost.toFixed(4)}`);
  expect(stderr).toContain(`The run cost $${(cost - 0.4).toFixed(4)} more than its budget.`);
});

test('a token budget ends all agents with exit code 3, and stderr shows the tokens above the budget', async () => {
  const { run, simulator } = await setFanOutScene(9_000);
  const env = { SKEIN_MAX_BUDGET_TOKENS: '150000' };
  const { code, stderr } = await run(['-p', 'Fan out.'], { env });
  const used = windowTokens(simulator.totals.usage);
  const words = (tokens: number) => `${tokens.toLocaleString('en')} tokens`;
  expect(code).toBe(3);
  expect(used).toBeGreaterThan(150_000);
  expect(stderr).toContain(`The budget of 150,000 tokens is used up: ${words(used)} is spent`);
  expect(stderr).toContain(`The run used ${words(used - 150_000)} more than its budget.`);
});
