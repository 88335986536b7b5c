/** Agents that would never end, in real processes: each is stopped as the table in docs/agents.md says. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, type Reply, type Rules, setScene } from '../../fakes/skein-process.js';
import { isAlive } from '../../host/process/processes.js';

const JSON_RESULT = ['--output-format', 'json'];
const FREE = ['--permission-mode', 'bypassPermissions'];
const AGENTS = JSON.stringify({
  worker: { description: 'Works', prompt: 'You work.', tools: 'Read, Bash' },
});
const task = (prompt: string) =>
  calls('Task', { description: 'x', prompt, subagent_type: 'worker' });

const textOf = (body: unknown): string => JSON.stringify(body);

describe('a loop of the same call', () => {
  const repeat: Reply = {
    text: 'Once more.',
    tool_use: { name: 'Read', input: { file_path: 'a.txt' } },
  };

  test('is reported to the model, then ends the run with exit code 1 and the partial result', async () => {
    const scene = await setScene([{ reply: repeat }]);
    await writeFile(join(scene.workspace, 'a.txt'), 'A line.\n');
    const { code, result, stderr } = await scene.run(['-p', 'go', ...JSON_RESULT]);
    expect([code, result.stop_reason, result.partial_result]).toEqual([1, 'loop', 'Once more.']);
    expect(result.result).toContain('repeated the same calls 10 times');
    expect(scene.bodies()).toHaveLength(10);
    const warned = scene.bodies().map((body) => textOf(body).includes('made this call 3 times'));
    expect(warned).toEqual([...Array(3).fill(false), ...Array(7).fill(true)]);
    expect(stderr).not.toContain('at ');
  });

  test('can be resumed with a new prompt', async () => {
    const scene = await setScene([
      { match: { lastUser: 'Enough' }, reply: 'I see.' },
      { reply: repeat },
    ]);
    await writeFile(join(scene.workspace, 'a.txt'), 'A line.\n');
    const first = await scene.run(['-p', 'go', '--session-id', 'round', ...JSON_RESULT]);
    const next = await scene.run(['-p', 'Enough.', '--resume', 'round', ...JSON_RESULT]);
    expect([first.code, first.result.stop_reason]).toEqual([1, 'loop']);
    expect([next.code, next.result.result]).toEqual([0, 'I see.']);
  });

  test('of an agent is reported to its parent with the partial result', async () => {
    const scene = await setScene([
      { match: { firstUser: 'the lead', turn: 0 }, reply: task('the work') },
      { match: { firstUser: 'the lead' }, reply: 'It went in circles.' },
      { reply: repeat },
    ]);
    await writeFile(join(scene.workspace, 'a.txt'), 'A line.\n');
    const flags = ['--agents', AGENTS, ...JSON_RESULT];
    const { code, result } = await scene.run(['-p', 'the lead', ...flags]);
    expect([code, result.result]).toEqual([0, 'It went in circles.']);
    const received = textOf(scene.bodies().at(-1));
    expect(received).toMatch(/reason\W+loop/);
    expect(received).toContain('Once more.');
  });
});

describe('polling with a delay', () => {
  test('is not a loop, even with twelve equal results', async () => {
    const look = calls('Bash', { command: 'sleep 0.01; cat state.txt' });
    const rules: Rules = [{ match: { turn: { max: 11 } }, reply: look }, { reply: 'Done.' }];
    const scene = await setScene(rules);
    await writeFile(join(scene.workspace, 'state.txt'), 'building\n');
    const { code, result } = await scene.run(['-p', 'wait', ...FREE, ...JSON_RESULT]);
    expect([code, result.result, result.num_turns]).toEqual([0, 'Done.', 13]);
    expect(textOf(scene.bodies().at(-1))).not.toContain('made this call');
  });
});

describe('a hung tool', () => {
  test('ends its agent at the idle time-out, its process is killed, and the parent gets the partial result', async () => {
    const hangs: Reply = {
      text: 'I begin.',
      tool_use: { name: 'Bash', input: { command: 'echo $$ > pid; exec sleep 600' } },
    };
    const scene = await setScene([
      { match: { firstUser: 'the lead', turn: 0 }, reply: task('the work') },
      { match: { firstUser: 'the lead' }, reply: 'It hung.' },
      { reply: hangs },
    ]);
    const { code, result } = await scene.run(
      ['-p', 'the lead', '--agents', AGENTS, ...FREE, ...JSON_RESULT],
      { env: { SKEIN_AGENT_IDLE_TIMEOUT_MS: '1000' } },
    );
    expect([code, result.result]).toEqual([0, 'It hung.']);
    const received = textOf(scene.bodies().at(-1));
    expect(received).toContain('time_limit');
    expect(received).toContain('was inactive for 1 second');
    expect(received).toContain('I begin.');
    const pid = Number(await readFile(join(scene.workspace, 'pid'), 'utf8'));
    await eventually('the process is gone', () => !isAlive(pid));
  });
});
