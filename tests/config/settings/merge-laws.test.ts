import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explainSettings } from '../../../src/config/settings/explain-settings.js';
import type { LoadedSettings } from '../../../src/config/settings/load-settings.js';
import { createPolicy } from '../../../src/policy/policy.js';
import {
  PERMISSION_MODES,
  type PermissionMode,
} from '../../../src/protocol/permission/permission-mode.js';
import type { PermissionRule } from '../../../src/protocol/permission/permission-rule.js';
import { temporaryFolder } from '../temporary-folder.js';

/** Sources of settings, weakest first, with their files. The command line has no file. */
const SOURCES = {
  user: 'home/.claude/settings.json',
  project: 'repo/.claude/settings.json',
  local: 'repo/.claude/settings.local.json',
  flag: 'flag.json',
  command: undefined,
  policy: 'managed.json',
} as const;
type Source = keyof typeof SOURCES;
const NAMES = Object.keys(SOURCES) as Source[];

interface Permissions {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly defaultMode?: PermissionMode;
  readonly disableBypassPermissionsMode?: 'disable';
}

/** Loads the settings of a trusted workspace in which each source has its own values. */
const loadWith = (
  values: Partial<Record<Source, Permissions>>,
  more: Record<string, unknown> = {},
) => {
  const folder = temporaryFolder();
  for (const name of NAMES) {
    const file = SOURCES[name];
    const content = { permissions: values[name] ?? {}, ...(name === 'policy' && more) };
    if (file !== undefined) folder.put(file, content);
  }
  const { allow, deny, defaultMode } = values.command ?? {};
  return folder.load({
    trust: true,
    flags: {
      settings: join(folder.path, SOURCES.flag),
      ...(allow && { allowedTools: allow }),
      ...(deny && { disallowedTools: deny }),
      ...(defaultMode && { permissionMode: defaultMode }),
    },
  });
};

const ruling = (rules: readonly PermissionRule[], mode: PermissionMode = 'default') =>
  createPolicy({
    rules,
    mode,
    roots: ['/repo'],
    home: '/home',
    skeinHome: '/state',
    surface: false,
    realPath: (path) => path,
  }).rule({
    tool: 'Bash',
    subject: { action: 'execute', target: 'make all' },
    readOnly: false,
    cwd: '/repo',
  });

const allowsOf = ({ rules }: LoadedSettings) =>
  rules.filter(({ behavior }) => behavior === 'allow').map(({ source }) => source);

describe('the merge of all sources', () => {
  const pairs = NAMES.flatMap((denies) => NAMES.map((allows) => ({ denies, allows })));

  test.each(pairs)(
    'lets a deny rule of $denies override an allow rule of $allows',
    ({ denies, allows }) => {
      const { rules } = loadWith({
        [allows]: { allow: ['Bash'] },
        [denies]: { deny: ['Bash(make:*)'], ...(allows === denies && { allow: ['Bash'] }) },
      });
      const session: PermissionRule = {
        behavior: 'allow',
        text: 'Bash(make all)',
        source: 'session',
      };
      for (const order of [rules, [...rules, session], [session, ...rules]]) {
        expect(ruling(order, 'bypassPermissions')).toMatchObject({
          behavior: 'deny',
          step: 'deny',
          rule: { source: denies, text: 'Bash(make:*)' },
        });
      }
    },
  );

  const mode = fc.option(fc.constantFrom(...PERMISSION_MODES), { nil: undefined });
  const modes = fc.record(Object.fromEntries(NAMES.map((name) => [name, mode])));

  test('uses the mode of the strongest source that sets a mode', () => {
    fc.assert(
      fc.property(modes, (modeOf) => {
        const values = Object.fromEntries(
          NAMES.flatMap((name) => {
            const defaultMode = modeOf[name];
            return defaultMode === undefined ? [] : [[name, { defaultMode }]];
          }),
        );
        const strongest = NAMES.findLast((name) => modeOf[name] !== undefined);
        const merged = loadWith(values).mode;
        expect(merged.source).toBe(strongest ?? 'default');
        expect(merged.value).toBe(strongest === undefined ? 'default' : modeOf[strongest]);
      }),
      { numRuns: 60 },
    );
  });

  test('never overrides the managed policy', () => {
    const values = fc.record({
      allow: fc.subarray(['Bash', 'Edit', 'WebFetch']),
      deny: fc.subarray(['Read(.env)', 'Task']),
      defaultMode: fc.constantFrom(...PERMISSION_MODES),
    });
    const others = fc.record(Object.fromEntries(NAMES.map((name) => [name, values])));
    fc.assert(
      fc.property(others, fc.boolean(), fc.boolean(), (all, isClosed, isStrict) => {
        const policy = { allow: all.policy?.allow ?? [], deny: all.policy?.deny ?? [] };
        const own = {
          ...policy,
          ...(isClosed && { disableBypassPermissionsMode: 'disable' as const }),
        };
        const settings = loadWith(
          { ...all, policy: own },
          { allowManagedPermissionRulesOnly: isStrict },
        );
        const { rules } = settings;
        expect(isClosed && settings.mode.value === 'bypassPermissions').toBe(false);
        const denied = NAMES.flatMap((name) => all[name]?.deny ?? []);
        expect(rules.filter(({ behavior }) => behavior === 'deny')).toHaveLength(denied.length);
        const foreign = allowsOf(settings).filter((source) => source !== 'policy');
        const given = NAMES.slice(0, -1).flatMap((name) => all[name]?.allow ?? []);
        expect(foreign).toHaveLength(isStrict ? 0 : given.length);
        expect(allowsOf(settings).length - foreign.length).toBe(policy.allow.length);
      }),
      { numRuns: 60 },
    );
  });

  test('gives the same ruling for any order of rules', () => {
    const texts = ['Bash', 'Bash(make:*)', 'Bash(make all)', 'Edit', '*'];
    const rule = fc.record({
      behavior: fc.constantFrom('allow' as const, 'deny' as const, 'ask' as const),
      text: fc.constantFrom(...texts),
      source: fc.constantFrom(...NAMES),
    });
    const shuffled = fc
      .array(rule, { maxLength: 8 })
      .chain((rules) =>
        fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length })),
      );
    fc.assert(
      fc.property(
        shuffled,
        fc.constantFrom(...PERMISSION_MODES),
        ([rules, reordered], askedMode) => {
          expect(ruling(reordered, askedMode).behavior).toBe(ruling(rules, askedMode).behavior);
          expect(ruling(reordered, askedMode).step).toBe(ruling(rules, askedMode).step);
        },
      ),
    );
  });

  test('shows every value with its source, file and line', () => {
    const folder = temporaryFolder();
    const lines = (name: string) =>
      `{\n  "model": "of-${name}",\n  "permissions": {\n    "allow": ["Read(${name})"],\n    "deny": [\n      "Edit(${name})"\n    ]\n  },\n  "env": { "WHO": "${name}" }\n}\n`;
    for (const name of NAMES) {
      const file = SOURCES[name];
      if (file !== undefined) folder.put(file, lines(name));
    }
    const settings = folder.load({
      trust: true,
      flags: { settings: '../flag.json', allowedTools: ['Read(command)'], model: 'of-command' },
    });
    const rows = explainSettings(settings)
      .filter(({ key }) => /^(?:model|env|permissions\.(?:allow|deny))/.test(key))
      .map(({ key, value, source, file, line }) => {
        const place = file === undefined ? '' : ` ${file.replace(folder.path, '')}:${line}`;
        return `${key} ${String(value)} ${source}${place}`;
      });
    expect(rows).toEqual([
      'model of-policy policy /managed.json:2',
      'permissions.deny Edit(user) user /home/.claude/settings.json:6',
      'permissions.allow Read(user) user /home/.claude/settings.json:4',
      'permissions.deny Edit(project) project /repo/.claude/settings.json:6',
      'permissions.allow Read(project) project /repo/.claude/settings.json:4',
      'permissions.deny Edit(local) local /repo/.claude/settings.local.json:6',
      'permissions.allow Read(local) local /repo/.claude/settings.local.json:4',
      'permissions.deny Edit(flag) flag /flag.json:6',
      'permissions.allow Read(flag) flag /flag.json:4',
      'permissions.allow Read(command) command',
      'permissions.deny Edit(policy) policy /managed.json:6',
      'permissions.allow Read(policy) policy /managed.json:4',
      'env.WHO policy policy /managed.json:9',
    ]);
  });
});

describe('the managed policy', () => {
  test('can drop other allow rules, with a warning about their number', () => {
    const settings = loadWith(
      {
        user: { allow: ['Bash'], deny: ['Read'] },
        command: { allow: ['Edit'] },
        policy: { allow: ['Grep'] },
      },
      { allowManagedPermissionRulesOnly: true },
    );
    expect(settings.rules.map(({ behavior, source }) => `${behavior} ${source}`)).toEqual([
      'deny user',
      'allow policy',
    ]);
    expect(settings.warnings).toEqual([
      expect.stringContaining('so 2 other allow rules do not apply'),
    ]);
  });

  test('has hooks that only the policy can disable', () => {
    const folder = temporaryFolder();
    const hooks = { Stop: [] };
    folder.put('home/.claude/settings.json', { hooks });
    folder.put('managed.json', { hooks });
    const sources = () => folder.load().hooks.map(({ source }) => source);
    expect(sources()).toEqual(['user', 'policy']);
    folder.put('home/.claude/settings.json', { hooks, disableAllHooks: true });
    expect(sources()).toEqual(['policy']);
    folder.put('managed.json', { hooks, disableAllHooks: false });
    expect(sources()).toEqual(['user', 'policy']);
    folder.put('managed.json', { hooks, allowManagedHooksOnly: true });
    expect(sources()).toEqual(['policy']);
    folder.put('managed.json', { hooks, disableAllHooks: true });
    expect(sources()).toEqual([]);
  });

  test('has the line of each value in its hooks', () => {
    const folder = temporaryFolder();
    folder.put('managed.json', '{"hooks": {\n"Stop": [\n{"hooks": [\n{"type": "x"}]}]}}');
    expect(folder.load().hooks[0]?.lineOf(['Stop', 0, 'hooks', 0, 'type'])).toBe(4);
  });
});
