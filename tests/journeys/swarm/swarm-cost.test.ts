/** What a swarm costs, as the command line tells it, against what the simulator billed. */
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

/** Two fan-outs of twelve explorers that read a file twice and report, in answers of so many tokens. */
const fanOuts = async (output_tokens: number) => {
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

/** What the agents of each fan-out cost, in the order of the fan-outs. */
const bills = (lines: readonly Line[]): readonly number[] => {
  const costs = lines.flatMap((it) => (it.subtype === 'task_notification' ? [it.cost_usd] : []));
  return [costs.slice(0, 12), costs.slice(12)].map((some) => some.reduce((a, b) => a + b, 0));
};

test('the whole tree is counted, and a large fan-out is announced once for about what it costs', async () => {
  const { run, simulator } = await fanOuts(300);
  const { code, lines, result } = await run(['-p', 'Fan out.', ...STREAM]);
  expect([code, result.result]).toEqual([0, 'All done.']);
  const { cost = 0, messages } = simulator.totals;
  expect([messages, result.total_cost_usd]).toEqual([75, expect.closeTo(cost, 9)]);
  const report = JSON.parse((await run(['cost', result.session_id, '--json'])).stdout) as Line;
  expect(report.total.costUsd).toBeCloseTo(cost, 9);
  expect(report.agents).toHaveLength(25);
  const previews = lines.filter(({ subtype }) => subtype === 'task_preview');
  expect(previews.map(({ count }) => count)).toEqual([12, 12]);
  const [guessed, judged] = previews.map(({ cost_usd }) => cost_usd);
  const [first = 0, second = 0] = bills(lines);
  expect([guessed[0] <= first, first <= guessed[1]]).toEqual([true, true]);
  expect([judged[0] * 0.9 <= second, second <= judged[1] * 1.1]).toEqual([true, true]);
});

test('an agent with a budget of its own stops at it, and its lead goes on', async () => {
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
  const of = (type: string): Line => ends.find((it) => it.subagent_type === type) ?? {};
  expect(of('explorer')).toMatchObject({ status: 'completed' });
  expect(of('spender')).toMatchObject({ status: 'failed' });
  expect(of('spender').cost_usd).toBeGreaterThan(0.02);
  expect(of('spender').cost_usd).toBeLessThan(of('explorer').cost_usd);
  const read = JSON.stringify(resultsIn(scene.bodies().at(-1)));
  expect(read).toContain("The agent's share of the budget, $0.05, is used up");
});

test('a budget ends the whole tree with exit code 3, and shows by how much it was passed', async () => {
  const { run, simulator } = await fanOuts(9_000);
  const { code, stderr } = await run(['-p', 'Fan out.', '--max-budget-usd', '0.4']);
  const { cost = 0 } = simulator.totals;
  expect(code).toBe(3);
  expect(stderr).toMatch(/^skein: \(12 agents on claude-sonnet-5-5: \$[\d.]+ to \$[\d.]+ with/m);
  expect(stderr).toContain('12 of 12 agents done, 12 of them failed');
  expect(stderr).toContain(`stopped (budget): The budget of $0.4 is used up: $${cost.toFixed(4)}`);
  expect(stderr).toContain(`The run cost $${(cost - 0.4).toFixed(4)} more than its budget.`);
});

test('a budget of tokens ends the whole tree too, with what was used and by how much it was passed', async () => {
  const { run, simulator } = await fanOuts(9_000);
  const env = { SKEIN_MAX_BUDGET_TOKENS: '150000' };
  const { code, stderr } = await run(['-p', 'Fan out.'], { env });
  const used = windowTokens(simulator.totals.usage);
  const words = (tokens: number) => `${tokens.toLocaleString('en')} tokens`;
  expect(code).toBe(3);
  expect(used).toBeGreaterThan(150_000);
  expect(stderr).toContain(`The budget of 150,000 tokens is used up: ${words(used)} is spent`);
  expect(stderr).toContain(`The run used ${words(used - 150_000)} more than its budget.`);
});
