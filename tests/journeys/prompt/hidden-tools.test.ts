import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { calls, type Line, resultsIn, setScene, unmarked } from '../../fakes/skein-process.js';

const JSON_OUTPUT = ['--output-format', 'json'];
const namesIn = ({ tools }: Line): readonly string[] => tools.map(({ name }: Line) => name);
const deniedIn = ({ permission_denials: denials }: Line): readonly string[] =>
  denials.map(({ tool_name }: Line) => tool_name);

/** The bytes of tools and system prompt, without cache breakpoints. */
const headOf = (body: Line | undefined): string => {
  const { tools, system } = JSON.parse(unmarked(body)) as Line;
  return JSON.stringify([tools, system]);
};

const bash = calls('Bash', { command: 'echo hello' });

describe('a tool that a rule forbids outright', () => {
  test('is not shown, and a call of it is denied by the rule', async () => {
    const { workspace, run, bodies } = await setScene([
      { match: { turn: 0 }, reply: bash },
      { reply: 'Done.' },
    ]);
    await mkdir(join(workspace, '.claude'));
    const settings = { permissions: { deny: ['WebFetch', 'Edit'] } };
    await writeFile(join(workspace, '.claude', 'settings.json'), JSON.stringify(settings));
    const flags = ['--disallowed-tools', 'Bash(*)', '--permission-mode', 'dontAsk'];
    const { result } = await run(['-p', 'go', ...JSON_OUTPUT, ...flags]);
    const [first = {}, second] = bodies();
    expect(namesIn(first)).not.toEqual(expect.arrayContaining(['Bash']));
    const hidden = ['Bash', 'Edit', 'MultiEdit', 'NotebookEdit', 'WebFetch', 'Write'];
    expect(hidden.filter((name) => namesIn(first).includes(name))).toEqual([]);
    expect(JSON.stringify(first.system)).not.toMatch(/\b(?:Bash|WebFetch|MultiEdit)\b/);
    expect(resultsIn(second)).toMatchObject([{ is_error: true }]);
    expect(JSON.stringify(resultsIn(second))).toContain('Bash(*)');
    expect(deniedIn(result)).toEqual(['Bash']);
  });

  test('stays in the prompt of a session that was started with it', async () => {
    const { run, bodies } = await setScene([
      { match: { lastUser: 'again' }, reply: bash },
      { reply: 'Done.' },
    ]);
    await run(['-p', 'go']);
    const { result } = await run([
      '-p',
      'again',
      '--continue',
      ...JSON_OUTPUT,
      '--disallowed-tools',
      'Bash',
    ]);
    const [first, resumed = {}] = bodies();
    expect(namesIn(resumed)).toContain('Bash');
    expect(headOf(resumed)).toBe(headOf(first));
    expect(deniedIn(result)).toEqual(['Bash']);
  });

  test('stays out of the prompt of a session and its forks if the rule goes away', async () => {
    const fork = calls('Task', { description: 'Look', prompt: 'LOOK' });
    const { run, bodies } = await setScene([
      { match: { lastUser: 'LOOK' }, reply: 'Seen.' },
      { match: { lastUser: 'again' }, reply: fork },
      { reply: 'Done.' },
    ]);
    await run(['-p', 'go', '--disallowed-tools', 'Bash']);
    await run(['-p', 'again', '--continue']);
    const heads = bodies().map(headOf);
    expect(heads).toHaveLength(4);
    expect(new Set(heads).size).toBe(1);
    expect(namesIn(bodies()[0] ?? {})).not.toContain('Bash');
  });
});

describe('plan mode', () => {
  const flags = ['-p', 'go', ...JSON_OUTPUT, '--permission-mode', 'plan'];
  const fetch = calls('WebFetch', { url: 'http://127.0.0.1:1/' });

  test.each([
    ['is allowed by a rule', ['--allowed-tools', 'WebFetch(domain:127.0.0.1)'], []],
    ['needs permission without a rule', [], ['WebFetch']],
  ])('judges WebFetch as the default mode does: it %s', async (_, rules, denied) => {
    const { run } = await setScene([{ match: { turn: 0 }, reply: fetch }, { reply: 'Done.' }]);
    const { result } = await run([...flags, ...rules]);
    expect(deniedIn(result)).toEqual(denied);
  });
});
