/** The debug log: a JSON object per line in a file, redacted, never on stdout. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { calls, type Line, type Rules, setScene } from '../../fakes/skein-process.js';

const KEY = 'sk-ant-api03-0123456789abcdefghijklmnop';
const RULES: Rules = [
  { match: { turn: 0 }, reply: calls('Bash', { command: `echo ${KEY}` }) },
  { reply: `The key is ${KEY}.` },
];
const ALLOWED = ['--allowed-tools', 'Bash'];

const linesIn = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

describe('the debug log', () => {
  test('of --debug-file has every event with time, host and process, and no secret', async () => {
    const { run, workspace } = await setScene(RULES);
    const plain = await run(['-p', 'go', ...ALLOWED]);
    const { code, stdout, stderr } = await run(
      ['-p', 'go', ...ALLOWED, '--debug-file', 'logs/debug.jsonl'],
      { env: { ANTHROPIC_API_KEY: KEY } },
    );
    const path = join(workspace, 'logs/debug.jsonl');
    expect({ code, stdout }).toEqual({ code: 0, stdout: plain.stdout });
    expect(stderr).toContain(`skein: The debug log is ${path}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const lines = linesIn(path);
    expect(lines.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['command', 'session', 'feed', 'exit']),
    );
    for (const line of lines) {
      expect(line).toMatchObject({
        time: expect.stringMatching(/Z$/),
        host: expect.stringMatching(/./),
        pid: expect.any(Number),
      });
    }
    const types = lines.flatMap(({ item }) => (item === undefined ? [] : [item.type]));
    expect(types).toEqual(expect.arrayContaining(['request.started', 'tool.ended', 'run.ended']));
    expect(lines.at(-1)).toMatchObject({ event: 'exit', code: 0 });
    expect(readFileSync(path, 'utf8')).not.toContain(KEY);
  });

  test.each([
    ['--debug', ['--debug'], {}],
    ['SKEIN_DEBUG', [], { SKEIN_DEBUG: '1' }],
  ])('of %s is in the state directory', async (_, flags, env) => {
    const { run, home } = await setScene([{ reply: 'Done.' }]);
    expect(await run(['-p', 'go', ...flags], { env })).toMatchObject({
      code: 0,
      stdout: 'Done.\n',
    });
    const folder = join(home, '.skein/debug');
    const [file = ''] = readdirSync(folder);
    expect(linesIn(join(folder, file)).at(-1)).toMatchObject({ event: 'exit', code: 0 });
  });

  test('has the stack of an error', async () => {
    const { run, workspace } = await setScene([]);
    const { code } = await run(['-p', 'go', '--debug-file', 'd.jsonl', '--resume', 'nosuch']);
    expect(code).toBe(2);
    const error = linesIn(join(workspace, 'd.jsonl')).find(({ event }) => event === 'error');
    expect(error?.error).toMatchObject({ stack: expect.stringContaining('nosuch') });
  });

  test.each([
    ['below a device', '/dev/null/d'],
    ['is a device', '/dev/null'],
    ['is a folder', '.'],
    ['is a pipe without a reader', 'pipe'],
    ['is stdout', '/dev/stdout'],
    ['is the file of stdout', 'out.txt'],
  ])('that cannot be written because it %s is a usage error', async (_, path) => {
    const { run, simulator, workspace } = await setScene([]);
    const stdout = join(workspace, 'out.txt');
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    const args = ['-p', 'go', '--debug-file', path];
    const toFile = ['sh', '-c', `exec "$@" > ${stdout}`, 'sh'] as const;
    const { code, stderr } = await run(args, { through: toFile });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^skein: The debug log cannot be written: [^\n]+\n$/);
    expect(readFileSync(stdout, 'utf8')).toBe('');
    expect(simulator.requests).toHaveLength(0);
  });

  test('replaces the oldest of a hundred logs of earlier processes', async () => {
    const { run, home } = await setScene([{ reply: 'Done.' }]);
    const folder = join(home, '.skein/debug');
    mkdirSync(folder, { recursive: true });
    for (let at = 0; at < 120; at += 1) {
      const path = join(folder, `old-${at}.jsonl`);
      writeFileSync(path, '');
      utimesSync(path, at, at);
    }
    await run(['-p', 'go', '--debug']);
    const names = readdirSync(folder);
    expect(names).toHaveLength(101);
    expect(names).not.toContain('old-19.jsonl');
    expect(names).toContain('old-20.jsonl');
  });
});
