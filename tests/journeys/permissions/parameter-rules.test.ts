import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resultsIn, setScene } from '../../fakes/skein-process.js';

const MODEL = { description: 'a', prompt: 'b', subagent_type: 'explorer' };

/** Calls with the rule that denies them. */
const CALLS = [
  ['Task(model:opus)', 'Task', { ...MODEL, model: 'claude-opus-5-5' }],
  ['WebFetch(url:http://127.0.0.1*)', 'WebFetch', { url: 'http://127.0.0.1:1/' }],
  ['SendMessage(to:bob)', 'SendMessage', { to: 'bob', message: 'a' }],
  ['Grep(pattern:*word)', 'Grep', { pattern: 'password' }],
] as const;

const scene = async (deny: readonly string[]) => {
  const tool_use = CALLS.map(([, name, input]) => ({ name, input }));
  const made = await setScene([{ match: { turn: 0 }, reply: { tool_use } }, { reply: 'Done.' }]);
  const file = join(made.workspace, '.claude', 'settings.json');
  await mkdir(join(made.workspace, '.claude'), { recursive: true });
  await writeFile(file, JSON.stringify({ permissions: { deny } }, null, 1));
  return { ...made, file };
};

describe('a rule about a parameter', () => {
  test('denies the calls with the value, in every mode', async () => {
    const { run, bodies } = await scene(CALLS.map(([text]) => text));
    const bypass = ['--permission-mode', 'bypassPermissions'];
    const { code } = await run(['-p', 'go', ...bypass], { env: { IS_SANDBOX: '1' } });
    expect(code).toBe(0);
    const results = resultsIn(bodies()[1]).map(({ content }) => String(content));
    expect(results).toEqual(CALLS.map(([text]) => expect.stringContaining(text)));
  });

  test.each([
    ['deny', ['-p', 'go']],
    ['flag', ['-p', 'go', '--disallowed-tools', 'Task(modle:opus)']],
    ['doctor', ['doctor']],
  ])('is refused with its place if it can never match: %s', async (kind, args) => {
    const { run, file, bodies } = await scene(
      kind === 'flag' ? [] : ['Read(.env)', 'Task(modle:opus)'],
    );
    const { code, stdout, stderr } = await run(args);
    const place = kind === 'flag' ? 'command settings' : `${file}, line 5,`;
    expect(stdout + stderr).toContain(
      `The deny rule "Task(modle:opus)" in ${place} can never match: Task has no parameter "modle"; did you mean model?`,
    );
    expect(code).toBe(kind === 'doctor' ? 1 : 2);
    expect(bodies()).toEqual([]);
  });
});
