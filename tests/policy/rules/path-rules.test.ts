import { describe, expect, test } from 'vitest';
import { bash, fetchUrl, mcp, policyOf, read, rule, write } from '../policy-fixtures.js';

const SETTINGS = '/repo/.claude/settings.json';

const denies = (text: string, path: string, tool?: string) =>
  policyOf({ mode: 'bypassPermissions', rules: [rule('deny', text, 'project', SETTINGS)] }).rule(
    read(path, tool),
  ).behavior === 'deny';

describe('a rule for files', () => {
  test.each([
    ['Read(//etc/hosts)', '/etc/hosts'],
    ['Read(//etc)', '/etc/ssh/config'],
    ['Read(~/notes/**)', '~/notes/a.md'],
    ['Read(~/notes/**)', '/home/ada/notes/a/b.md'],
    ['Read(/src/*.ts)', 'src/a.ts'],
    ['Read(src/**)', '/repo/src/a/b.ts'],
    ['Read(./src/**)', './src/a.ts'],
    ['Read(*.log)', 'deep/down/a.log'],
    ['Read(secrets/**)', 'secrets'],
    ['Read(secrets)', 'secrets/a'],
    ['Read(src/**)', 'lib/../src/a.ts'],
    ['Read(**)', '.'],
  ])('%s matches %s', (text, path) => {
    expect(denies(text, path)).toBe(true);
  });

  test.each([
    ['Read(/etc/hosts)', '/etc/hosts'],
    ['Read(src/**)', '/repo2/src/a.ts'],
    ['Read(src/**)', '/src/a.ts'],
    ['Read(/src/*.ts)', 'src/deep/a.ts'],
    ['Read(~/notes/**)', '/home/ada2/notes/a'],
    ['Read(SRC/**)', 'src/a.ts'],
    ['Read(*)', '/etc/hosts'],
    ['Edit(src/**)', 'src/a.ts'],
    ['Write(src/**)', 'src/a.ts'],
  ])('%s does not match %s', (text, path) => {
    expect(denies(text, path)).toBe(false);
  });

  test('for Read covers all reading tools, and for Edit all writing tools', () => {
    for (const tool of ['Read', 'Grep', 'Glob'])
      expect(denies('Read(src/**)', 'src/a', tool)).toBe(true);
    const policy = policyOf({ rules: [rule('allow', 'Edit(src/**)')] });
    for (const tool of ['Write', 'Edit', 'MultiEdit', 'NotebookEdit']) {
      expect(policy.rule(write('src/a', tool)).step).toBe('allow');
    }
  });

  test('for a single tool covers only that tool', () => {
    const policy = policyOf({
      rules: [rule('allow', 'Write(src/**)'), rule('deny', 'Glob(lib/**)')],
    });
    expect(policy.rule(write('src/a', 'Write')).behavior).toBe('allow');
    expect(policy.rule(write('src/a', 'Edit')).behavior).toBe('ask');
    expect(policy.rule(read('lib/a', 'Glob')).behavior).toBe('deny');
    expect(policy.rule(read('lib/a', 'Read')).behavior).toBe('allow');
  });

  test('is relative to the folder of its settings file, even after cd', () => {
    const user = rule('deny', 'Read(/drafts/**)', 'user', '/home/ada/.claude/settings.json');
    const managed = rule('deny', 'Read(/keys/**)', 'policy', '/etc/skein/managed-settings.json');
    const project = rule('deny', 'Read(private/**)', 'project', SETTINGS);
    const policy = policyOf({ mode: 'bypassPermissions', rules: [user, managed, project] });
    expect(policy.rule(read('~/drafts/a')).rule).toBe(user);
    expect(policy.rule(read('/etc/skein/keys/a')).rule).toBe(managed);
    expect(policy.rule({ ...read('../private/a'), cwd: '/repo/src' }).rule).toBe(project);
  });

  test('ignores case if the disk does', () => {
    const rules = [rule('deny', 'Read(Secrets/**)')];
    expect(policyOf({ rules, ignoreCase: true }).rule(read('SECRETS/a')).behavior).toBe('deny');
    expect(policyOf({ rules }).rule(read('SECRETS/a')).behavior).toBe('allow');
  });
});

describe('a symbolic link', () => {
  const realPath = (path: string) => path.replace('/repo/link', '/data/vault');

  test('is denied by a rule for its path or its target', () => {
    for (const text of ['Read(link/**)', 'Read(//data/vault/**)']) {
      const policy = policyOf({ realPath, mode: 'bypassPermissions', rules: [rule('deny', text)] });
      expect(policy.rule(read('link/a')).behavior).toBe('deny');
    }
  });

  test('is allowed only if rules cover its path and its target', () => {
    const pathOnly = policyOf({ realPath, rules: [rule('allow', 'Edit(link/**)')] });
    expect(pathOnly.rule(write('link/a')).behavior).toBe('ask');
    const both = policyOf({ realPath, rules: [rule('allow', 'Edit(//**)')] });
    expect(both.rule(write('link/a')).behavior).toBe('allow');
  });

  test('is not writable in acceptEdits if its target is outside the workspace', () => {
    expect(policyOf({ realPath, mode: 'acceptEdits' }).rule(write('link/a')).behavior).toBe('ask');
  });
});

describe('protected files', () => {
  test.each([
    '.env',
    '.env.local',
    'app/.ENV',
    'id_rsa',
    'keys/server.pem',
    'tls.key',
    '.npmrc',
    '.netrc',
    '.ssh/config',
    '.aws/credentials',
    '.git-credentials',
    '.claude/.credentials.json',
    '/proc/self/environ',
    '/proc/1/task/1/environ',
    '/proc/17/mem',
  ])('with secrets require a question for reading too: %s', (path) => {
    for (const mode of ['default', 'bypassPermissions'] as const) {
      const rules = [rule('allow', 'Read')];
      expect(policyOf({ mode, rules }).rule(read(path))).toMatchObject({
        behavior: 'ask',
        step: 'ask',
      });
    }
    expect(
      policyOf({ rules: [rule('allow', 'Bash(cat:*)')] }).rule(bash(`cat ${path}`)).behavior,
    ).toBe('ask');
  });

  test.each(['.env.example', 'id_rsa.pub', 'src/env.ts', 'keyboard.ts', '.environment'])(
    'do not include %s',
    (path) => {
      expect(policyOf().rule(read(path)).behavior).toBe('allow');
    },
  );

  test.each([
    '.claude/settings.json',
    '.skein/settings.local.json',
    '.mcp.json',
    '.git/hooks/pre-push',
    '.git/config.worktree',
    '.git/modules/sub/config',
    '.git/worktrees/a/hooks/pre-push',
    'sub/.git',
  ])('with settings of agents are readable, and writing requires a question: %s', (path) => {
    const policy = policyOf({ mode: 'acceptEdits' });
    expect(policy.rule(read(path)).behavior).toBe('allow');
    expect(policy.rule(write(path))).toMatchObject({ behavior: 'ask', step: 'ask' });
  });
});

describe('calls of other tools', () => {
  test('to a URL are matched by its host', () => {
    const policy = policyOf({ rules: [rule('allow', 'WebFetch(domain:*.example.com)')] });
    expect(policy.rule(fetchUrl('https://docs.example.com/a')).behavior).toBe('allow');
    expect(policy.rule(fetchUrl('https://DOCS.example.com./a')).behavior).toBe('allow');
    expect(policy.rule(fetchUrl('https://docs.example.com.evil.org/')).behavior).toBe('ask');
    expect(policy.rule(fetchUrl('https://evil.org/?docs.example.com')).behavior).toBe('ask');
    expect(policy.rule(fetchUrl('not an address')).behavior).toBe('ask');
  });

  test('to an MCP server are matched by its name', () => {
    const policy = policyOf({
      rules: [rule('allow', 'mcp__git__*'), rule('deny', 'mcp__git__push')],
    });
    expect(policy.rule(mcp('mcp__git__log')).behavior).toBe('allow');
    expect(policy.rule(mcp('mcp__git__push')).behavior).toBe('deny');
    expect(policy.rule(mcp('mcp__github__log')).behavior).toBe('ask');
  });
});
