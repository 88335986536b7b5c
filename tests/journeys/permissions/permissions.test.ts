import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { calls, type Line, resultsIn, setScene } from '../../fakes/skein-process.js';

interface Call {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

const bash = (command: string): Call => ({ name: 'Bash', input: { command } });
const write = (file_path: string): Call => ({
  name: 'Write',
  input: { file_path, content: 'made\n' },
});

/** Runs a single call in print mode. Returns its result and the denials of the run. */
const attempt = async (call: Call, flags: readonly string[] = [], settings?: Line) => {
  const scene = await setScene([
    { match: { turn: 0 }, reply: { tool_use: [call] } },
    { reply: 'Done.' },
  ]);
  await writeFile(join(scene.root, 'outside.txt'), 'outside\n');
  if (settings !== undefined) await writeSettings(scene.workspace, settings);
  const args = ['-p', 'go', '--output-format', 'json'];
  const { code, result, stderr } = await scene.run([...args, ...flags]);
  const [answered] = resultsIn(scene.bodies()[1]);
  const denials = result.permission_denials as readonly Line[];
  return { ...scene, code, stderr, denials, answered, ran: denials.length === 0 };
};

const writeSettings = async (workspace: string, settings: Line) => {
  await mkdir(join(workspace, '.claude'), { recursive: true });
  await writeFile(join(workspace, '.claude', 'settings.json'), JSON.stringify(settings));
};

const mode = (name: string) => ['--permission-mode', name];
const allowing = (...rules: readonly string[]) => ['--allowed-tools', ...rules];

describe('the output for people', () => {
  test('shows control characters from models and settings files as visible text', async () => {
    const read = (file_path: string): Call => ({ name: 'Read', input: { file_path } });
    const scene = await setScene([
      { match: { turn: 0 }, reply: { tool_use: [read('/\u001b[2J\u202e.env')] } },
      { reply: 'Done.' },
    ]);
    const model = '\u009b2J\u202e';
    await writeSettings(scene.workspace, { '\u001b]0;owned\u0007': 1, model });
    const { stdout } = await scene.run(['config', '--trust']);
    expect(stdout).toContain('<U+009B>2J<U+202E>');
    expect(stdout).not.toContain(model);
    const { stderr } = await scene.run(['-p', 'go']);
    expect(stderr).toContain('^[[2J<U+202E>.env');
    expect(stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });
});

describe('a call that is judged before an earlier call of its message has run', () => {
  const read = (file_path: string): Call => ({ name: 'Read', input: { file_path } });

  test.each([
    ['the working directory', bash('cd ..'), ''],
    ['a link', bash('ln -s .. notes'), 'notes/'],
  ])('does not leave the workspace when the earlier call changes %s', async (_, first, below) => {
    const skeinHome = `${below}home/.skein/secret`;
    const scene = await setScene([
      {
        match: { turn: 0 },
        reply: {
          tool_use: [first, write(`${below}made`), read(`${below}outside`), read(skeinHome)],
        },
      },
      { reply: 'Done.' },
    ]);
    await mkdir(scene.skeinHome, { recursive: true });
    await writeFile(join(scene.root, 'outside'), 'SECRET');
    await writeFile(join(scene.skeinHome, 'secret'), 'SECRET');
    await scene.run(['-p', 'go', ...mode('acceptEdits'), ...allowing('Bash(cd:*)', 'Bash(ln:*)')]);
    const answers = resultsIn(scene.bodies()[1]);
    expect(answers).toHaveLength(4);
    expect(JSON.stringify(answers)).not.toContain('SECRET');
    expect(existsSync(join(scene.root, 'made'))).toBe(false);
  });

  test('runs in the new working directory if it is allowed there', async () => {
    const scene = await setScene([
      {
        match: { turn: 0 },
        reply: { tool_use: [bash('cd sub'), write('made'), bash('touch too')] },
      },
      { reply: 'Done.' },
    ]);
    await mkdir(join(scene.workspace, 'sub'));
    await scene.run(['-p', 'go', ...mode('acceptEdits'), ...allowing('Bash')]);
    expect(existsSync(join(scene.workspace, 'sub', 'made'))).toBe(true);
    expect(existsSync(join(scene.workspace, 'sub', 'too'))).toBe(true);
  });
});

describe('print mode without a surface', () => {
  test.each([
    ['command', bash('touch made.txt')],
    ['write', write('made.txt')],
  ])(
    'denies a %s at once, gives the model the reason, and lists the denial in the result',
    async (_, call) => {
      const { code, denials, answered, workspace } = await attempt(call);
      expect(code).toBe(0);
      expect(denials).toEqual([
        {
          tool_name: call.name,
          tool_use_id: answered?.tool_use_id,
          tool_input: call.input,
          reason: expect.stringContaining('--allowed-tools'),
        },
      ]);
      expect(answered).toMatchObject({ is_error: true, content: denials[0]?.reason });
      expect(existsSync(join(workspace, 'made.txt'))).toBe(false);
    },
  );

  test('allows reads inside the workspace and denies reads outside', async () => {
    const read = (file_path: string): Call => ({ name: 'Read', input: { file_path } });
    const inside = await attempt(read('missing.txt'));
    expect(inside.answered?.content).not.toContain('denied');
    const outside = await attempt(read('../outside.txt'));
    expect(outside).toMatchObject({ ran: false, answered: { is_error: true } });
  });
});

describe('a permission rule', () => {
  test('allows exactly the command that it names', async () => {
    const flags = allowing('Bash(expr 1 + 1)');
    const [named, other] = await Promise.all([
      attempt(bash('expr 1 + 1'), flags),
      attempt(bash('expr 1 + 2'), flags),
    ]);
    expect(named).toMatchObject({ ran: true, answered: { content: '2\n' } });
    expect(other).toMatchObject({ ran: false, answered: { is_error: true } });
  });

  test('with a prefix allows commands that start with the prefix', async () => {
    const flags = allowing('Bash(expr:*)');
    expect(await attempt(bash('expr length anything'), flags)).toMatchObject({ ran: true });
  });

  test.each([
    'expr 1 && touch made.txt',
    'expr 1; rm -rf x',
    'expr $(touch made.txt)',
    'expr 1 > made.txt',
    'expr 1 | tee made.txt',
    'env touch made.txt',
  ])('for a part of a command does not allow the other parts: %s', async (command) => {
    const { ran, workspace } = await attempt(
      bash(command),
      allowing('Bash(expr:*)', 'Bash(env:*)'),
    );
    expect(ran).toBe(false);
    expect(existsSync(join(workspace, 'made.txt'))).toBe(false);
  });

  test('that denies takes precedence over a rule that allows', async () => {
    const flags = [...allowing('Bash'), '--disallowed-tools', 'Bash(echo:*)'];
    expect(await attempt(bash('echo hi'), flags)).toMatchObject({ ran: false });
  });

  test('that asks becomes a denial in print mode, even in bypassPermissions', async () => {
    const settings = ['--settings', JSON.stringify({ permissions: { ask: ['Bash(touch:*)'] } })];
    const flags = [...mode('bypassPermissions'), ...allowing('Bash'), ...settings];
    expect(await attempt(bash('touch made.txt'), flags)).toMatchObject({ ran: false });
  });

  test('that denies applies even in bypassPermissions', async () => {
    const flags = [...mode('bypassPermissions'), '--disallowed-tools', 'Bash(touch:*)'];
    const { ran, workspace } = await attempt(bash('touch made.txt'), flags);
    expect(ran).toBe(false);
    expect(existsSync(join(workspace, 'made.txt'))).toBe(false);
  });
});

describe('the permission mode', () => {
  test('acceptEdits allows changes to files of the workspace only', async () => {
    const flags = mode('acceptEdits');
    const [inside, outside] = await Promise.all([
      attempt(write('made.txt'), flags),
      attempt(write('../outside.txt'), flags),
    ]);
    expect(await readFile(join(inside?.workspace ?? '', 'made.txt'), 'utf8')).toBe('made\n');
    expect(outside).toMatchObject({ ran: false, answered: { is_error: true } });
    expect(await readFile(join(outside?.root ?? '', 'outside.txt'), 'utf8')).toBe('outside\n');
  });

  test('acceptEdits denies a write outside of the workspace through a symlink', async () => {
    const scene = await setScene([
      { match: { turn: 0 }, reply: { tool_use: [write('link/made.txt')] } },
      { reply: 'Done.' },
    ]);
    await symlink(scene.root, join(scene.workspace, 'link'));
    const { result } = await scene.run([
      '-p',
      'go',
      '--output-format',
      'json',
      ...mode('acceptEdits'),
    ]);
    expect(result.permission_denials).toHaveLength(1);
    expect(existsSync(join(scene.root, 'made.txt'))).toBe(false);
  });

  test('acceptEdits allows changes in directories from --add-dir', async () => {
    const scene = await setScene([
      { match: { turn: 0 }, reply: { tool_use: [write('../more/made.txt')] } },
      { reply: 'Done.' },
    ]);
    await mkdir(join(scene.root, 'more'));
    const flags = [...mode('acceptEdits'), '--add-dir', '../more'];
    await scene.run(['-p', 'go', ...flags]);
    expect(await readFile(join(scene.root, 'more', 'made.txt'), 'utf8')).toBe('made\n');
  });

  test('acceptEdits denies a command with effects', async () => {
    expect(await attempt(bash('touch made.txt'), mode('acceptEdits'))).toMatchObject({
      ran: false,
    });
  });

  test.each(['plan', 'dontAsk'])('%s denies a call with effects', async (name) => {
    const { ran, answered } = await attempt(write('made.txt'), mode(name));
    expect(ran).toBe(false);
    expect(answered?.content).toContain(name === 'plan' ? 'plan mode' : 'dontAsk');
  });

  test('dontAsk applies the allow rules', async () => {
    const flags = [...mode('dontAsk'), ...allowing('Bash(expr 1)')];
    expect(await attempt(bash('expr 1'), flags)).toMatchObject({ ran: true });
  });

  test('bypassPermissions runs every call that no rule denies', async () => {
    const { ran, workspace } = await attempt(
      bash('echo a > made.txt && echo b'),
      mode('bypassPermissions'),
    );
    expect(ran).toBe(true);
    expect(existsSync(join(workspace, 'made.txt'))).toBe(true);
  });

  test.runIf(process.geteuid?.() === 0)(
    'bypassPermissions from a flag or from settings is refused for root outside of a sandbox',
    async () => {
      const scene = await setScene();
      const bypass = { permissions: { defaultMode: 'bypassPermissions' } };
      await writeSettings(scene.workspace, bypass);
      const ways: readonly (readonly string[])[] = [
        mode('bypassPermissions'),
        ['--settings', JSON.stringify(bypass)],
        ['--trust'],
        ['--trust', '--continue'],
      ];
      expect((await scene.run(['-p', 'go'])).code).toBe(0);
      const asked = scene.bodies().length;
      for (const way of ways) {
        const { code, stderr } = await scene.run(['-p', 'go', ...way], {
          env: { IS_SANDBOX: undefined },
        });
        expect([code, stderr]).toEqual([
          2,
          'skein: Mode bypassPermissions is refused for root, because root can damage the whole machine: run as another user, choose another mode, or set IS_SANDBOX=1 in a disposable container.\n',
        ]);
      }
      expect(scene.bodies()).toHaveLength(asked);
      const { code } = await scene.run(['config'], { env: { IS_SANDBOX: undefined } });
      expect(code).toBe(0);
    },
  );

  test('bypassPermissions does not allow changes to the state of Skein', async () => {
    const scene = await setScene([
      {
        match: { turn: 0 },
        reply: { tool_use: [write('../home/.skein/trust.json'), bash('skein trust')] },
      },
      { reply: 'Done.' },
    ]);
    const { result } = await scene.run([
      '-p',
      'go',
      '--output-format',
      'json',
      ...mode('bypassPermissions'),
    ]);
    expect(result.permission_denials).toHaveLength(2);
  });
});

describe('an untrusted workspace', () => {
  const settings = { permissions: { allow: ['Bash(mkdir:*)'], deny: ['Read(./secret.txt)'] } };
  const read = { name: 'Read', input: { file_path: 'secret.txt' } };

  test('has no effective allow rules, and a single warning says so', async () => {
    const { ran, stderr, workspace } = await attempt(bash('mkdir -v made'), [], settings);
    expect(ran).toBe(false);
    expect(stderr).toMatch(/^skein: The workspace .+ is not trusted.+permissions\.allow.+\n$/);
    expect(stderr).toContain(workspace);
  });

  test('has effective deny rules', async () => {
    expect(await attempt(read, [], settings)).toMatchObject({ ran: false });
  });

  test.each([
    ['with --trust for a run', ['--trust'], {}],
    ['with SKEIN_TRUST', [], { SKEIN_TRUST: '1' }],
  ])('can be trusted %s', async (_, flags, env) => {
    const { run, workspace, bodies } = await setScene([
      { match: { turn: 0 }, reply: { tool_use: [bash('mkdir -v made')] } },
      { reply: 'Done.' },
    ]);
    await writeSettings(workspace, settings);
    expect(await run(['-p', 'go', ...flags], { env })).toMatchObject({ code: 0, stderr: '' });
    expect(resultsIn(bodies()[1])).toMatchObject([
      { content: expect.stringContaining('created directory') },
    ]);
  });

  test('can be trusted with `skein trust` until its settings change or the trust is revoked', async () => {
    const { run, workspace } = await setScene([
      { match: { turn: 0 }, reply: { tool_use: [bash('mkdir -v made')] } },
      { reply: 'Done.' },
    ]);
    await writeSettings(workspace, settings);
    const denials = async () => {
      const { result, stderr } = await run(['-p', 'go', '--output-format', 'json']);
      return { count: result.permission_denials.length as number, stderr };
    };
    expect(await run(['trust', '--json'])).toMatchObject({
      code: 0,
      result: { workspace, state: 'trusted' },
    });
    expect(await denials()).toEqual({ count: 0, stderr: '' });
    await writeSettings(workspace, { permissions: { allow: ['Bash'] } });
    expect(await denials()).toMatchObject({ count: 1, stderr: expect.stringMatching('changed') });
    await run(['trust']);
    expect(await denials()).toEqual({ count: 0, stderr: '' });
    expect(await run(['trust', '--revoke'])).toMatchObject({ code: 0 });
    expect(await denials()).toMatchObject({ count: 1 });
  });

  test('cannot set variables that control Skein, with or without trust', async () => {
    const { run, workspace, simulator } = await setScene();
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', SKEIN_HOME: '/nowhere' };
    await writeSettings(workspace, { env });
    expect(await run(['-p', 'go'])).toMatchObject({ code: 0 });
    expect(await run(['-p', 'go', '--trust'])).toMatchObject({ code: 0 });
    expect(simulator.requests).toHaveLength(2);
  });
});

describe('skein config', () => {
  test('prints the effective settings with their sources as JSON', async () => {
    const { run, workspace, home, skeinHome } = await setScene();
    await mkdir(join(home, '.claude'));
    const mine = join(home, '.claude', 'settings.json');
    await writeFile(mine, JSON.stringify({ model: 'opus' }));
    await writeSettings(workspace, { permissions: { deny: ['Bash(rm:*)'] } });
    const { code, stdout } = await run(['config', '--json'], { env: { SKEIN_MAX_RETRIES: '4' } });
    expect(code).toBe(0);
    const shown = JSON.parse(stdout) as Line;
    expect(shown).toMatchObject({ skeinHome, trust: 'untrusted' });
    expect(shown.settings).toContainEqual({
      key: 'model',
      value: 'opus',
      source: 'user',
      file: mine,
      line: 1,
    });
    expect(shown.settings).toContainEqual(
      expect.objectContaining({ key: 'permissions.deny', value: 'Bash(rm:*)' }),
    );
    expect(shown.settings).toContainEqual(
      expect.objectContaining({ key: 'skein.maxRetries', value: 4 }),
    );
  });

  test('prints a setting per line as text', async () => {
    const { run } = await setScene();
    const { stdout } = await run(['config']);
    expect(stdout).toMatch(/^permissions\.defaultMode +"default" /m);
    expect(stdout).toMatch(/^skein\.maxAgents +200 /m);
  });

  test('needs no API key and creates no files', async () => {
    const { run, home } = await setScene();
    expect(await run(['config'], { env: { ANTHROPIC_API_KEY: '' } })).toMatchObject({ code: 0 });
    expect(existsSync(join(home, '.skein'))).toBe(false);
  });
});

describe('a session that is resumed from another directory', () => {
  test('uses the rules of its own workspace', async () => {
    const { run, root, workspace } = await setScene([
      { match: { lastUser: 'again' }, reply: calls('Read', { file_path: 'plan.txt' }) },
      { reply: 'Done.' },
    ]);
    await mkdir(join(workspace, '.skein'));
    const deny = JSON.stringify({ permissions: { deny: ['Read(plan.txt)'] } });
    await writeFile(join(workspace, '.skein', 'settings.json'), deny);
    await writeFile(join(workspace, 'plan.txt'), 'secret\n');
    await run(['-p', 'hello', '--session-id', 'home']);
    const flags = ['--resume', 'home', '--output-format', 'json'];
    const { result } = await run(['-p', 'again', ...flags], { cwd: root });
    expect(result.permission_denials).toMatchObject([{ tool_name: 'Read' }]);
  });
});
