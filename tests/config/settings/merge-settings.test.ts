import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { explainSettings } from '../../../src/config/settings/explain-settings.js';
import { managedSettingsFiles } from '../../../src/config/settings/settings-layers.js';
import { type TemporaryFolder, temporaryFolder } from '../temporary-folder.js';

/** Writes values into every source of settings, weakest first. */
const everySource = (folder: TemporaryFolder) => {
  const writeLayer = (name: string, depth: number) =>
    folder.put(name, {
      permissions: { allow: [`Read(${depth})`] },
      env: { [`FROM_${depth}`]: 'x', WHO: String(depth) },
      model: `model-${depth}`,
      skein: { maxDepth: depth },
    });
  writeLayer('home/.claude/settings.json', 1);
  writeLayer('home/.skein/settings.json', 2);
  writeLayer('repo/.claude/settings.json', 3);
  writeLayer('repo/.skein/settings.json', 4);
  writeLayer('repo/.claude/settings.local.json', 5);
  writeLayer('repo/.skein/settings.local.json', 6);
  writeLayer('flag.json', 8);
  writeLayer('managed.json', 10);
};

describe('layers of settings', () => {
  test('override each other in the order from user to managed policy', () => {
    const folder = temporaryFolder();
    everySource(folder);
    const { rules, env, model, skein, skeinOrigins } = folder.load({
      trust: true,
      env: { SKEIN_MAX_DEPTH: '7', ANTHROPIC_MODEL: 'model-7' },
      flags: { settings: '../flag.json', skein: { maxDepth: 9 }, allowedTools: ['Read(9)'] },
    });
    expect(rules.map(({ text, source }) => `${text} ${source}`)).toEqual([
      'Read(1) user',
      'Read(2) user',
      'Read(3) project',
      'Read(4) project',
      'Read(5) local',
      'Read(6) local',
      'Read(8) flag',
      'Read(9) command',
      'Read(10) policy',
    ]);
    expect(rules[2]?.file).toBe(join(folder.repo, '.claude/settings.json'));
    expect(rules[7]).not.toHaveProperty('file');
    expect(skein.maxDepth).toBe(10);
    expect(skeinOrigins.maxDepth).toEqual({
      source: 'policy',
      file: join(folder.path, 'managed.json'),
      line: 1,
    });
    expect(model?.value).toBe('model-10');
    expect(env.WHO?.value).toBe('10');
    expect(Object.keys(env)).toContain('FROM_3');
  });

  test.each([
    ['the environment beats files', { env: { SKEIN_MAX_DEPTH: '7' } }, 7, 'environment'],
    [
      'a settings flag beats the environment',
      { env: { SKEIN_MAX_DEPTH: '7' }, flags: { settings: '{"skein":{"maxDepth":8}}' } },
      8,
      'flag',
    ],
    [
      'a single flag beats the settings flag',
      { flags: { settings: '{"skein":{"maxDepth":8}}', skein: { maxDepth: 0 } } },
      0,
      'command',
    ],
    ['files beat defaults', {}, 6, 'local'],
  ])('have the documented precedence: %s', (_, options, depth, source) => {
    const folder = temporaryFolder();
    folder.put('repo/.skein/settings.local.json', { skein: { maxDepth: 6 } });
    const { skein, skeinOrigins } = folder.load({ trust: true, ...options });
    expect(skein.maxDepth).toBe(depth);
    expect(skeinOrigins.maxDepth?.source).toBe(source);
  });

  test('have the documented defaults without any settings', () => {
    const { skein, mode, rules, warnings, ignoredNotice } = temporaryFolder().load();
    expect(skein).toEqual({
      maxAgents: 200,
      maxConcurrentAgents: 20,
      maxDepth: 3,
      maxCallsPerMessage: 200,
      refusedTurnsBeforeWarning: 5,
      maxRefusedTurns: 15,
      maxRepeatedCalls: 10,
      maxConcurrentRequests: 64,
      agentIdleTimeoutMs: 600_000,
      agentWallTimeoutMs: 3_600_000,
      permissionTimeoutMs: 600_000,
      teammates: 'in-process',
      store: 'embedded',
      modelAliases: {},
      leaseMs: 15_000,
      queuePriority: 0,
      queueDelayMs: 0,
      personKeys: [],
      sharedPaths: [],
      webSearch: true,
      allowPrivateAddresses: [],
      redactSecrets: true,
      sandbox: 'off',
      simple: false,
      disableMemoryFiles: false,
      autoMemory: false,
      teamMemory: false,
      disableExperimentalBetas: false,
      cacheHourFor: [],
      mcpInstructionsDelta: true,
      maxOutputTokens: 32_000,
      streamIdleTimeoutMs: 120_000,
      maxRetries: 10,
      sessionRetentionDays: 30,
      checkpointRetentionDays: 30,
      worktreeRetentionDays: 30,
    });
    expect(mode).toEqual({ value: 'default', source: 'default' });
    expect([rules, warnings, ignoredNotice]).toEqual([[], [], undefined]);
  });

  test('use the mode of the strongest layer', () => {
    const folder = temporaryFolder();
    folder.put('home/.claude/settings.json', { permissions: { defaultMode: 'acceptEdits' } });
    expect(folder.load().mode.value).toBe('acceptEdits');
    expect(folder.load({ flags: { permissionMode: 'plan' } }).mode.value).toBe('plan');
    folder.put('managed.json', { permissions: { defaultMode: 'dontAsk' } });
    expect(folder.load({ flags: { permissionMode: 'plan' } }).mode.value).toBe('dontAsk');
  });

  test('cannot bypass permissions if the policy forbids it', () => {
    const folder = temporaryFolder();
    folder.put('managed.json', { permissions: { disableBypassPermissionsMode: 'disable' } });
    const { mode, warnings } = folder.load({ flags: { permissionMode: 'bypassPermissions' } });
    expect(mode.value).toBe('default');
    expect(warnings).toHaveLength(1);
  });

  test('resolve added directories relative to their file', () => {
    const folder = temporaryFolder();
    folder.put('repo/.claude/settings.json', {
      permissions: { additionalDirectories: ['../docs', '~/x'] },
    });
    const { additionalDirectories } = folder.load({ trust: true, flags: { addDirs: ['/abs'] } });
    const paths = additionalDirectories.map(({ value }) => value);
    expect(paths).toEqual([join(folder.path, 'docs'), join(folder.home, 'x'), '/abs']);
  });

  test('read a file only once if user and project folder are the same', () => {
    const folder = temporaryFolder();
    folder.put('home/.claude/settings.json', { permissions: { allow: ['Read'] } });
    folder.put('repo/.skein/settings.json', { permissions: { allow: ['Edit'] } });
    expect(folder.load({ cwd: folder.home }).rules).toHaveLength(1);
    const skeinHome = join(folder.repo, '.skein');
    const { rules } = folder.load({ env: { SKEIN_HOME: skeinHome } });
    expect(rules.map(({ source }) => source)).toEqual(['user', 'user']);
  });

  test('include the managed policy files of the platform', () => {
    expect(managedSettingsFiles('linux')).toEqual([
      '/etc/claude-code/managed-settings.json',
      '/etc/skein/managed-settings.json',
    ]);
    expect(managedSettingsFiles('darwin')[0]).toMatch(/^\/Library\/Application Support\//);
  });
});

describe('the explanation of settings', () => {
  test('shows each value with its origin', () => {
    const folder = temporaryFolder();
    const file = folder.put('home/.skein/settings.json', {
      permissions: { deny: ['Bash(rm:*)'] },
      language: 'Norsk',
      outputStyle: 'terse',
      skein: { maxAgents: 5 },
    });
    const user = { source: 'user', file, line: 1 };
    const rows = explainSettings(folder.load({ env: { SKEIN_MAX_DEPTH: '1' } }));
    expect(rows).toContainEqual({
      key: 'permissions.deny',
      value: 'Bash(rm:*)',
      ...user,
    });
    expect(rows).toContainEqual({ key: 'language', value: 'Norsk', ...user });
    expect(rows).toContainEqual({ key: 'outputStyle', value: 'terse', ...user });
    expect(rows).toContainEqual({ key: 'skein.maxAgents', value: 5, ...user });
    expect(rows).toContainEqual({ key: 'skein.maxDepth', value: 1, source: 'environment' });
    expect(rows).toContainEqual({ key: 'skein.maxConcurrentAgents', value: 20, source: 'default' });
  });

  test('masks secrets', () => {
    const folder = temporaryFolder();
    const env = {
      GITHUB_TOKEN: 'hush',
      DB: 'pg://me:hush@host/db',
      OTHER: 'ghp_hush',
      COLOR: 'red',
    };
    folder.put('home/.claude/settings.json', { env });
    const rows = explainSettings(folder.load({ env: { SKEIN_STORE: 'redis://:hush@host' } }));
    expect(JSON.stringify(rows)).not.toContain('hush');
    expect(rows).toContainEqual(expect.objectContaining({ key: 'env.COLOR', value: 'red' }));
    expect(rows).toContainEqual(expect.objectContaining({ value: 'redis://:***@host' }));
  });
});
