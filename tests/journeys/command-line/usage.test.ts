import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { calls, setScene } from '../../fakes/skein-process.js';
import { eventually } from '../../host/process/processes.js';

/** What the model was asked, given arguments and stdin. */
const asked = async (args: readonly string[], stdin?: string) => {
  const { run, bodies } = await setScene();
  const { code, stderr } = await run(args, stdin === undefined ? {} : { stdin });
  return { code, stderr, content: bodies()[0]?.messages[0].content };
};

/** The opening comes first, whatever was said. */
const text = (said: string) => [
  { type: 'text', text: expect.stringMatching(/^<system-reminder>/) },
  expect.objectContaining({ type: 'text', text: said }),
];

describe('a prompt', () => {
  test.each([
    ['an argument', ['-p', 'from the argument'], '', 'from the argument'],
    ['stdin', ['-p'], 'from the pipe\n', 'from the pipe'],
    ['stdin without -p', [], 'from the pipe', 'from the pipe'],
    ['both', ['-p', 'review this'], 'the diff\n', 'review this\n\nthe diff'],
  ])('comes from %s', async (_, args, stdin, said) => {
    const { code, content } = await asked(args, stdin);
    expect({ code, content }).toEqual({ code: 0, content: text(said) });
  });

  test('keeps every character that is text', async () => {
    const { content } = await asked(['-p'], 'naïve 🪿 "quoted" \\ and \u2028');
    expect(content).toEqual(text('naïve 🪿 "quoted" \\ and'));
  });

  test('that is missing is asked for in one sentence', async () => {
    expect(await asked(['-p'], ' \n')).toEqual({
      code: 2,
      content: undefined,
      stderr: 'skein: There is no prompt: give one, as in skein -p "…", or pipe one in.\n',
    });
  });
});

describe('without a key', () => {
  test('it says how to set one, and that the demo needs none', async () => {
    const { run } = await setScene();
    const { code, stdout, stderr } = await run(['-p', 'hi'], { env: { ANTHROPIC_API_KEY: '' } });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^skein: [^\n]*ANTHROPIC_API_KEY[^\n]*`skein demo`[^\n]*\n$/);
  });

  test('a bearer token will do', async () => {
    const { run, simulator } = await setScene();
    const env = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_AUTH_TOKEN: 'a-token' };
    expect(await run(['-p', 'hi'], { env })).toMatchObject({ code: 0 });
    const [request] = simulator.requests;
    expect(request?.headers).toMatchObject({ authorization: 'Bearer a-token' });
    expect(request?.headers).not.toHaveProperty('x-api-key');
  });

  test('the built-in simulator can stand in', async () => {
    const { run } = await setScene();
    const env = { ANTHROPIC_API_KEY: undefined };
    expect(await run(['-p', 'echo me', '--simulate'], { env })).toMatchObject({
      code: 0,
      stdout: 'echo me\n',
    });
  });
});

describe('wrong usage', () => {
  test.each([
    [['--no-such-flag'], /--no-such-flag/],
    [['--max-turns', 'many'], /--max-turns.*whole number/],
    [['--max-turns', '-1'], /--max-turns.*whole number/],
    [['--max-budget-usd', 'a lot'], /--max-budget-usd.*dollars/],
    [['--session-id', '../escape'], /"\.\.\/escape" cannot be a session id/],
    [['--json-schema', '{nope'], /--json-schema is not valid JSON/],
    [['--json-schema', '7'], /--json-schema must be a JSON object/],
    [['--json-schema', '[]'], /--json-schema must be a JSON object/],
    [['--permission-mode', 'yolo'], /yolo/],
    [['--resume', 's_nobody'], /There is no session "s_nobody"/],
    [['--resume', '../../etc'], /cannot be a session id/],
    [['--continue'], /no session in .+ to continue/],
    [['--fork-session'], /--fork-session needs --resume/],
    [['--settings', '{"model": 7}'], /model/],
    [['--settings', '/no/such/file.json'], /\/no\/such\/file\.json/],
    [['--cwd', '/no/such/place'], /\/no\/such\/place/],
    [['--max-budget-usd', '1', '--model', 'unpriced'], /price of unpriced is unknown/],
    [['--simulate', '/no/such/script.json'], /\/no\/such\/script\.json/],
  ])('ends with exit code 2 and one sentence: %j', async (flags, sentence) => {
    const { run, simulator } = await setScene();
    const { code, stdout, stderr } = await run(['-p', 'hi', ...flags]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(simulator.requests).toEqual([]);
  });

  test('of the environment is named', async () => {
    const { run } = await setScene();
    const retries = await run(['-p', 'hi'], { env: { SKEIN_MAX_RETRIES: 'often' } });
    expect(retries).toMatchObject({ code: 2, stderr: expect.stringMatching('SKEIN_MAX_RETRIES') });
    const url = await run(['-p', 'hi'], { env: { ANTHROPIC_BASE_URL: 'localhost:80' } });
    expect(url).toMatchObject({ code: 2, stderr: expect.stringMatching('ANTHROPIC_BASE_URL') });
  });

  test('of a settings file names the file and the line', async () => {
    const { run, workspace } = await setScene();
    await mkdir(join(workspace, '.claude'));
    const file = join(workspace, '.claude', 'settings.json');
    await writeFile(file, '{\n  "permissions": {\n    "deny": [,]\n  }\n}\n');
    const { code, stderr } = await run(['-p', 'hi']);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file} is not valid JSON at line 3`);
  });

  test('of a directory that is gone is said in one sentence', async () => {
    const { run, workspace } = await setScene();
    const gone = join(workspace, 'gone');
    await mkdir(gone);
    const script = `rmdir "${gone}" && exec "$0" "$@"`;
    const { code, stderr } = await run(['-p', 'hi'], { cwd: gone, through: ['sh', '-c', script] });
    expect({ code, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 2, lines: 1 });
    expect(stderr).toMatch(/^skein: The current directory no longer exists/);
  });

  test('of a state directory that cannot be is said in one sentence', async () => {
    const { run } = await setScene();
    const { code, stderr } = await run(['-p', 'hi'], { env: { SKEIN_HOME: '/dev/null/x' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^skein: [^\n]*\/dev\/null\/x[^\n]*\n$/);
  });

  test('shows a stack only when it is asked for', async () => {
    const { run } = await setScene();
    const plain = await run(['-p', 'hi', '--resume', 's_nobody']);
    const verbose = await run(['-p', 'hi', '--resume', 's_nobody', '--verbose']);
    expect(plain.stderr).not.toMatch(/^ +at /m);
    expect(verbose.stderr).toMatch(/^ +at /m);
  });
});

describe('flags that shape the request', () => {
  test('reach the model', async () => {
    const { run, bodies } = await setScene();
    await run([
      '-p',
      'hi',
      '--model',
      'opus',
      '--effort',
      'low',
      '--system-prompt',
      'Be a goose.',
      '--append-system-prompt',
      'Honk.',
      '--json-schema',
      '{"type":"object"}',
    ]);
    const [body] = bodies();
    expect(body).toMatchObject({
      model: 'claude-opus-5-5',
      stream: true,
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
      system: [{}, { text: expect.stringMatching(/^Be a goose\.\n[\s\S]*\n\nHonk\.$/) }],
    });
    expect(Object.keys(body ?? {}).at(-1)).toBe('messages');
  });

  test('take limits and thinking from the settings', async () => {
    const { run, bodies } = await setScene();
    const skein = { maxOutputTokens: 5_000, thinking: 2_000 };
    await run(['-p', 'hi', '--settings', JSON.stringify({ skein })]);
    expect(bodies()[0]).toMatchObject({
      max_tokens: 5_000,
      thinking: { type: 'enabled', budget_tokens: 2_000 },
    });
  });
});

describe('skein sim', () => {
  test('prints its address, answers there, and ends at Ctrl-C', async () => {
    const { start, run, root } = await setScene();
    const script = join(root, 'script.json');
    await writeFile(script, JSON.stringify({ rules: [{ reply: 'From the script.' }] }));
    const sim = start(['sim', '--script', script], { env: { ANTHROPIC_API_KEY: undefined } });
    const url = await eventually('it has an address', () => sim.stdout.trim() || undefined);
    const answered = await run(['-p', 'hi'], { env: { ANTHROPIC_BASE_URL: url } });
    expect(answered).toMatchObject({ code: 0, stdout: 'From the script.\n' });
    sim.kill('SIGINT');
    expect(await sim.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test.each([
    [['--port', 'http'], /not a port/],
    [['--port', '70000'], /not a port/],
    [['--script', '/no/such/script.json'], /script\.json/],
  ])('refuses what it cannot use: %j', async (flags, sentence) => {
    const { run } = await setScene();
    const { code, stderr } = await run(['sim', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toMatch(sentence);
  });
});

describe('help and version', () => {
  test('go to stdout and are no errors', async () => {
    const { run } = await setScene();
    const [help, version, command] = await Promise.all([
      run(['--help']),
      run(['--version']),
      run(['version']),
    ]);
    expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Usage:') });
    expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(command).toMatchObject({ code: 0, stdout: version?.stdout });
  });
});

describe('an output that cannot be written', () => {
  test.each(['text', 'json', 'stream-json'])('is an error: %s', async (format) => {
    const { start } = await setScene();
    const process = start(['-p', 'hi', '--output-format', format], {
      through: ['sh', '-c', 'exec "$@" > /dev/full', 'sh'],
    });
    process.endInput();
    const { code, stderr } = await process.ended;
    expect(code).toBe(1);
    expect(stderr).toBe('skein: The output could not be written: ENOSPC.\n');
  });
});

describe('a state directory', () => {
  test('that can never be is refused at once', async () => {
    const { run } = await setScene();
    const { code, stderr } = await run(['-p', 'hi'], { env: { SKEIN_HOME: '/proc/nope' } });
    expect(code).toBe(2);
    expect(stderr).toContain('Cannot store state in /proc/nope');
  });
});

describe('a prompt of the system', () => {
  test('that comes too late is said to be ignored', async () => {
    const { run, bodies } = await setScene();
    await run(['-p', 'hi', '--session-id', 'old']);
    const { stderr } = await run(['-p', 'hi', '--resume', 'old', '--system-prompt', 'New rules.']);
    expect(stderr).toContain('A session keeps its system prompt');
    expect(JSON.stringify(bodies())).not.toContain('New rules.');
  });
});

describe('a key in a command', () => {
  test('is kept out of the event index', async () => {
    const key = 'sk-ant-0123456789abcdef';
    const command = `curl -H "x-api-key: ${key}" localhost`;
    const { run, skeinHome } = await setScene([
      { match: { turn: 0 }, reply: calls('Bash', { command }) },
      { reply: 'Done.' },
    ]);
    await run(['-p', 'hi', '--session-id', 'keyed', '--disallowed-tools', 'Bash']);
    const events = await readFile(join(skeinHome, 'sessions', 'keyed', 'events.jsonl'), 'utf8');
    expect(events).toContain('permission.ruled');
    expect(events).not.toContain(key);
  });
});
