import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, setScene } from '../../fakes/skein-process.js';

/** Runs skein with arguments and stdin. Returns the first message that the model received. */
const firstMessage = async (args: readonly string[], stdin?: string) => {
  const { run, bodies } = await setScene();
  const { code, stderr } = await run(args, stdin === undefined ? {} : { stdin });
  return { code, stderr, content: bodies()[0]?.messages[0].content };
};

/** Expected content of the first message: the preamble, then the prompt. */
const messageOf = (prompt: string) => [
  expect.objectContaining({ type: 'text', text: expect.stringMatching(/^<system-reminder>/) }),
  expect.objectContaining({ type: 'text', text: prompt }),
];

describe('a prompt', () => {
  test.each([
    ['an argument', ['-p', 'from the argument'], '', 'from the argument'],
    ['stdin', ['-p'], 'from the pipe\n', 'from the pipe'],
    ['stdin without -p', [], 'from the pipe', 'from the pipe'],
    ['both', ['-p', 'review this'], 'the diff\n', 'review this\n\nthe diff'],
  ])('comes from %s', async (_, args, stdin, prompt) => {
    const { code, content } = await firstMessage(args, stdin);
    expect({ code, content }).toEqual({ code: 0, content: messageOf(prompt) });
  });

  test('keeps Unicode and special characters', async () => {
    const { content } = await firstMessage(['-p'], 'naïve 🪿 "quoted" \\ and \u2028');
    expect(content).toEqual(messageOf('naïve 🪿 "quoted" \\ and'));
  });

  test('that is missing is an error of a single line', async () => {
    expect(await firstMessage(['-p'], ' \n')).toEqual({
      code: 2,
      content: undefined,
      stderr: 'skein: There is no prompt: give one, as in skein -p "…", or pipe one in.\n',
    });
  });
});

describe('a run without an API key', () => {
  test('fails with instructions to set a key or to run the demo', async () => {
    const { run } = await setScene();
    const { code, stdout, stderr } = await run(['-p', 'hi'], { env: { ANTHROPIC_API_KEY: '' } });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^skein: [^\n]*ANTHROPIC_API_KEY[^\n]*`skein demo`[^\n]*\n$/);
  });

  test('uses a bearer token', async () => {
    const { run, simulator } = await setScene();
    const env = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_AUTH_TOKEN: 'a-token' };
    expect(await run(['-p', 'hi'], { env })).toMatchObject({ code: 0 });
    const [request] = simulator.requests;
    expect(request?.headers).toMatchObject({ authorization: 'Bearer a-token' });
    expect(request?.headers).not.toHaveProperty('x-api-key');
  });

  test('works with the built-in simulator', async () => {
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
  ])('ends with exit code 2 and a single error line: %j', async (flags, sentence) => {
    const { run, simulator } = await setScene();
    const { code, stdout, stderr } = await run(['-p', 'hi', ...flags]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(simulator.requests).toEqual([]);
  });

  test('of an environment variable names the variable', async () => {
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

  test('in a deleted directory is a single error line', async () => {
    const { run, workspace } = await setScene();
    const gone = join(workspace, 'gone');
    await mkdir(gone);
    const script = `rmdir "${gone}" && exec "$0" "$@"`;
    const { code, stderr } = await run(['-p', 'hi'], { cwd: gone, through: ['sh', '-c', script] });
    expect({ code, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 2, lines: 1 });
    expect(stderr).toMatch(/^skein: The current directory no longer exists/);
  });

  test('with an impossible state directory is a single error line', async () => {
    const { run } = await setScene();
    const { code, stderr } = await run(['-p', 'hi'], { env: { SKEIN_HOME: '/dev/null/x' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^skein: [^\n]*\/dev\/null\/x[^\n]*\n$/);
  });

  test('prints a stack trace only with --verbose', async () => {
    const { run } = await setScene();
    const plain = await run(['-p', 'hi', '--resume', 's_nobody']);
    const verbose = await run(['-p', 'hi', '--resume', 's_nobody', '--verbose']);
    expect(plain.stderr).not.toMatch(/^ +at /m);
    expect(verbose.stderr).toMatch(/^ +at /m);
  });
});

describe('flags and settings of the request', () => {
  test('for model, effort, system prompt and schema are sent to the model', async () => {
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

  test('for output tokens and thinking are sent to the model', async () => {
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
  test('prints its address, answers requests, and exits on SIGINT', async () => {
    const { start, run, root } = await setScene();
    const script = join(root, 'script.json');
    await writeFile(script, JSON.stringify({ rules: [{ reply: 'From the script.' }] }));
    const sim = start(['sim', '--script', script], { env: { ANTHROPIC_API_KEY: undefined } });
    const url = await eventually('the address is printed', () => sim.stdout.trim() || undefined);
    const answered = await run(['-p', 'hi'], { env: { ANTHROPIC_BASE_URL: url } });
    expect(answered).toMatchObject({ code: 0, stdout: 'From the script.\n' });
    sim.kill('SIGINT');
    expect(await sim.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test.each([
    [['--port', 'http'], /not a port/],
    [['--port', '70000'], /not a port/],
    [['--script', '/no/such/script.json'], /script\.json/],
  ])('refuses an invalid port or script: %j', async (flags, sentence) => {
    const { run } = await setScene();
    const { code, stderr } = await run(['sim', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toMatch(sentence);
  });
});

describe('help and version', () => {
  test('are printed to stdout with exit code 0', async () => {
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

describe('a full output device', () => {
  test.each(['text', 'json', 'stream-json'])(
    'makes the run fail with output format %s',
    async (format) => {
      const { start } = await setScene();
      const process = start(['-p', 'hi', '--output-format', format], {
        through: ['sh', '-c', 'exec "$@" > /dev/full', 'sh'],
      });
      process.endInput();
      const { code, stderr } = await process.ended;
      expect(code).toBe(1);
      expect(stderr).toBe('skein: The output could not be written: ENOSPC.\n');
    },
  );
});

describe('a state directory', () => {
  test('that cannot be created is refused before the run', async () => {
    const { run } = await setScene();
    const { code, stderr } = await run(['-p', 'hi'], { env: { SKEIN_HOME: '/proc/nope' } });
    expect(code).toBe(2);
    expect(stderr).toContain('Cannot store state in /proc/nope');
  });
});

describe('a system prompt', () => {
  test('for a resumed session is ignored with a warning', async () => {
    const { run, bodies } = await setScene();
    await run(['-p', 'hi', '--session-id', 'old']);
    const { stderr } = await run(['-p', 'hi', '--resume', 'old', '--system-prompt', 'New rules.']);
    expect(stderr).toContain('A session keeps its system prompt');
    expect(JSON.stringify(bodies())).not.toContain('New rules.');
  });
});

describe('an API key in a command', () => {
  test('is not written to the event index', async () => {
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
