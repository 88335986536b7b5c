/** Agents that would go on for ever, in real processes: each ends as the table in docs/agents.md says. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { calls, type Reply, type Rules, setScene } from '../../fakes/skein-process.js';
import { eventually, isAlive } from '../../host/process/processes.js';

const JSON_RESULT = ['--output-format', 'json'];
const FREE = ['--permission-mode', 'bypassPermissions'];
const AGENTS = JSON.stringify({
  worker: { description: 'Works', prompt: 'You work.', tools: 'Read, Bash' },
});
const task = (prompt: string) =>
  calls('Task', { description: 'x', prompt, subagent_type: 'worker' });

const textOf = (body: unknown): string => JSON.stringify(body);

describe('a planted loop', () => {
  const again: Reply = {
    text: 'Once more.',
    tool_use: { name: 'Read', input: { file_path: 'a.txt' } },
  };

  test('is told to the model, and ends the run with exit code 1 and what it had said', async () => {
    const scene = await setScene([{ reply: again }]);
    await writeFile(join(scene.workspace, 'a.txt'), 'A line.\n');
    const { code, result, stderr } = await scene.run(['-p', 'go', ...JSON_RESULT]);
    expect([code, result.stop_reason, result.partial_result]).toEqual([1, 'loop', 'Once more.']);
    expect(result.result).toContain('repeated the same calls 6 times');
    expect(scene.bodies()).toHaveLength(6);
    const told = scene.bodies().map((body) => textOf(body).includes('3 times in a row'));
    expect(told).toEqual([false, false, false, true, true, true]);
    expect(stderr).not.toContain('at ');
  });

  test('goes on with a person who says what to do instead', async () => {
    const scene = await setScene([
      { match: { lastUser: 'Enough' }, reply: 'I see.' },
      { reply: again },
    ]);
    await writeFile(join(scene.workspace, 'a.txt'), 'A line.\n');
    const first = await scene.run(['-p', 'go', '--session-id', 'round', ...JSON_RESULT]);
    const next = await scene.run(['-p', 'Enough.', '--resume', 'round', ...JSON_RESULT]);
    expect([first.code, first.result.stop_reason]).toEqual([1, 'loop']);
    expect([next.code, next.result.result]).toEqual([0, 'I see.']);
  });

  test('of an agent is told to its parent, with its partial result', async () => {
    const scene = await setScene([
      { match: { firstUser: 'the lead', turn: 0 }, reply: task('the work') },
      { match: { firstUser: 'the lead' }, reply: 'It went in circles.' },
      { reply: again },
    ]);
    await writeFile(join(scene.workspace, 'a.txt'), 'A line.\n');
    const flags = ['--agents', AGENTS, ...JSON_RESULT];
    const { code, result } = await scene.run(['-p', 'the lead', ...flags]);
    expect([code, result.result]).toEqual([0, 'It went in circles.']);
    const heard = textOf(scene.bodies().at(-1));
    expect(heard).toMatch(/reason\W+loop/);
    expect(heard).toContain('Once more.');
  });
});

describe('honest polling', () => {
  test('goes on with the same result, twelve times over', async () => {
    const look = calls('Bash', { command: 'sleep 0.01; cat state.txt' });
    const rules: Rules = [{ match: { turn: { max: 11 } }, reply: look }, { reply: 'Done.' }];
    const scene = await setScene(rules);
    await writeFile(join(scene.workspace, 'state.txt'), 'building\n');
    const { code, result } = await scene.run(['-p', 'wait', ...FREE, ...JSON_RESULT]);
    expect([code, result.result, result.num_turns]).toEqual([0, 'Done.', 13]);
    expect(textOf(scene.bodies().at(-1))).not.toContain('in a row');
  });
});

describe('a hung tool', () => {
  test('ends its agent at the limit of silence, its process is gone, and its parent has the rest', async () => {
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
    const heard = textOf(scene.bodies().at(-1));
    expect(heard).toContain('time_limit');
    expect(heard).toContain('did nothing for 1 second');
    expect(heard).toContain('I begin.');
    const pid = Number(await readFile(join(scene.workspace, 'pid'), 'utf8'));
    await eventually('it is gone', () => !isAlive(pid));
  });
});
