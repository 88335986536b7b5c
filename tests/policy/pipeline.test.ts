import { describe, expect, test } from 'vitest';
import { PIPELINE } from '../../src/policy/pipeline.js';
import { createPolicy } from '../../src/policy/policy.js';
import type { PermissionMode } from '../../src/protocol/permission/permission-mode.js';
import type {
  PermissionRule,
  RuleBehavior,
} from '../../src/protocol/permission/permission-rule.js';
import { PIPELINE_STEPS, type Ruling } from '../../src/protocol/permission/ruling.js';
import type { SafetyFinding } from '../../src/protocol/tools/tool.js';
import { bash, mcp, policyOf, read, readOnlyBash, rule, write } from './policy-fixtures.js';

const outcome = ({ behavior, step }: Ruling) => `${behavior}@${step}`;

describe('the permission pipeline', () => {
  test('has the steps of law 5 in order', () => {
    const names = PIPELINE.map(({ name }) => name);
    expect(names).toEqual(['hooks', 'deny', 'ask', 'mode', 'allow', 'hooks', 'callback', 'reject']);
    const inOrder = PIPELINE_STEPS.filter((step) => names.includes(step));
    expect([...new Set(names)]).toEqual(inOrder);
  });

  /** For each pair of adjacent steps, a case whose ruling depends on their order. */
  const WITNESSES: readonly [PermissionMode, readonly PermissionRule[], RuleBehavior?][] = [
    ['default', [rule('deny', 'Bash')], 'deny'],
    ['default', [rule('deny', 'Bash'), rule('ask', 'Bash')]],
    ['bypassPermissions', [rule('ask', 'Bash')]],
    ['plan', [rule('allow', 'Bash')]],
    ['default', [rule('allow', 'Bash')], 'allow'],
    ['default', [], 'allow'],
    ['default', []],
  ];

  for (const [first, [mode, rules, hookBehavior]] of WITNESSES.entries()) {
    const names = PIPELINE.slice(first, first + 2).map(({ name }) => name);
    test(`gives another ruling if swapped: ${names.join(' and ')}`, () => {
      const swapped = [...PIPELINE];
      swapped.splice(first, 2, ...PIPELINE.slice(first, first + 2).reverse());
      const options = { rules, mode, surface: true, home: '/h', skeinHome: '/h/.skein' };
      const setup = { ...options, roots: ['/repo'] as const, realPath: (path: string) => path };
      const hook = hookBehavior && {
        behavior: hookBehavior,
        reason: 'It says so.',
        hook: './check.sh',
      };
      const right = createPolicy({ ...setup, roots: ['/repo'] }).rule(bash('make'), { hook });
      const wrong = createPolicy({ ...setup, roots: ['/repo'] }, swapped).rule(bash('make'), {
        hook,
      });
      expect(outcome(wrong)).not.toBe(outcome(right));
    });
  }

  test('denies every call without steps', () => {
    const options = { rules: [], mode: 'bypassPermissions', surface: true } as const;
    const policy = createPolicy(
      { ...options, roots: ['/repo'], home: '/h', skeinHome: '/s', realPath: (path) => path },
      [],
    );
    expect(policy.rule(read('a')).behavior).toBe('deny');
  });
});

describe('the finding of a tool', () => {
  const compound: SafetyFinding = { behavior: 'ask', reason: 'It is a compound command.' };
  const install: SafetyFinding = { behavior: 'ask', reason: 'It installs something.', mild: true };
  const lethal: SafetyFinding = { behavior: 'deny', reason: 'It would erase the disk.' };
  const rules = [rule('allow', 'Bash')];

  test('overrides every mode and allow rule if it denies', () => {
    for (const mode of ['default', 'bypassPermissions'] as const) {
      const ruling = policyOf({ mode, rules }).rule(bash('rm -rf /'), { finding: lethal });
      expect(ruling).toMatchObject({ behavior: 'deny', step: 'deny', reason: lethal.reason });
    }
  });

  test('asks although a rule allows the command', () => {
    expect(policyOf({ rules }).rule(bash('a && b'), { finding: compound })).toMatchObject({
      behavior: 'ask',
      step: 'ask',
    });
    expect(
      policyOf({ rules, surface: false }).rule(bash('a && b'), { finding: compound }).behavior,
    ).toBe('deny');
    expect(
      policyOf({ rules, mode: 'dontAsk' }).rule(bash('a && b'), { finding: compound }).behavior,
    ).toBe('deny');
  });

  test.each(['echo x > .env', '(cd .claude && echo {} > settings.json)', 'make 2>> .git/config'])(
    'asks in bypassPermissions because of a redirection: %s',
    (command) => {
      const { behavior, step, blockedPath } = policyOf({ mode: 'bypassPermissions' }).rule(
        bash(command),
      );
      expect([behavior, step, blockedPath?.startsWith('/repo/.')]).toEqual(['ask', 'ask', true]);
    },
  );

  test('asks in bypassPermissions unless it is mild', () => {
    const mode = 'bypassPermissions';
    expect(policyOf({ mode }).rule(bash('a && b'), { finding: compound }).behavior).toBe('ask');
    expect(policyOf({ mode }).rule(bash('a && b'), { finding: install }).behavior).toBe('allow');
    expect(policyOf({ mode, rules: [rule('ask', 'Bash')] }).rule(bash('a')).behavior).toBe('ask');
    expect(policyOf({ mode }).rule(write('.env')).behavior).toBe('ask');
  });

  test('is denied in plan mode if the call has effects', () => {
    const ruling = policyOf({ mode: 'plan' }).rule(bash('a && b'), { finding: compound });
    expect(ruling).toMatchObject({ behavior: 'deny', step: 'mode' });
  });
});

describe('the state directory of Skein', () => {
  const allowAll = {
    mode: 'bypassPermissions',
    rules: [rule('allow', 'Read'), rule('allow', 'Edit')],
  } as const;

  test('is denied to every tool, through links and commands too', () => {
    const realPath = (path: string) =>
      path === '/repo/link' ? '/home/ada/.skein/trust.json' : path;
    const policy = policyOf({ ...allowAll, realPath });
    for (const path of [
      '~/.skein/trust.json',
      '/home/ada/.skein',
      '/home/ada/x/../.skein/a',
      'link',
    ]) {
      expect(policy.rule(read(path))).toMatchObject({ behavior: 'deny', step: 'deny' });
      expect(policy.rule(write(path))).toMatchObject({ behavior: 'deny', step: 'deny' });
      expect(policy.rule(bash(`cat ${path}`))).toMatchObject({ behavior: 'deny' });
    }
    expect(policy.rule(read('~/.skein2/a')).behavior).toBe('allow');
  });

  test('is denied if a root is inside it', () => {
    const policy = policyOf({ ...allowAll, roots: ['/home/ada/.skein'] });
    expect(policy.rule(read('/home/ada/.skein/trust.json')).behavior).toBe('deny');
  });

  test('allows the worktree of the agent and the artifacts of its session', () => {
    const roots = ['/home/ada/.skein/worktrees/w1'] as [string];
    const artifacts = '/home/ada/.skein/sessions/s1/artifacts';
    const policy = policyOf({ roots, artifacts: [artifacts], mode: 'acceptEdits' });
    expect(policy.rule(write('/home/ada/.skein/worktrees/w1/a.ts')).behavior).toBe('allow');
    expect(policy.rule(write('/home/ada/.skein/worktrees/w2/a.ts')).behavior).toBe('deny');
    expect(policy.rule(read(`${artifacts}/out.txt`)).behavior).toBe('allow');
    expect(policy.rule(write(`${artifacts}/out.txt`)).behavior).toBe('deny');
    expect(policy.rule(read('/home/ada/.skein/sessions/s1/session.json')).behavior).toBe('deny');
  });
});

describe('reading without a question', () => {
  test('requires that the path and its real path are in the workspace', () => {
    const realPath = (path: string) => path.replace('/repo/out', '/etc');
    const policy = policyOf({ realPath });
    expect(policy.rule(read('src/a.ts')).behavior).toBe('allow');
    expect(policy.rule(read('out/passwd')).behavior).toBe('ask');
    expect(policy.rule(read('../repo2/a')).behavior).toBe('ask');
  });

  test('is allowed in a workspace behind a link', () => {
    const realPath = (path: string) => path.replace(/^\/repo/, '/data/repo');
    expect(policyOf({ realPath }).rule(read('a')).behavior).toBe('allow');
    expect(policyOf({ realPath }).rule(read('/data/repo/a')).behavior).toBe('allow');
  });

  test.each([
    'cat /etc/passwd',
    'cat ../other/a',
    'cat ~/notes',
    'cat $HOME/notes',
    'cat "$(pwd)/a"',
    'head --lines=1 --file=/etc/passwd',
    'grep -f/etc/passwd x',
    'cat /et"c"/passwd',
    "cat '/etc/passwd'",
    'cat \\/etc/passwd',
    'cat </etc/passwd',
    'cd && cat notes',
    'cat .e*',
  ])('is not allowed to a command that may reach outside: %s', (command) => {
    expect(policyOf().rule(readOnlyBash(command)).behavior).toBe('ask');
  });

  test.each([
    'ls',
    'ls -la src',
    "grep -n 'foo$' src/a.ts",
    'cat a 2>/dev/null',
    'git log --oneline',
  ])('is allowed to a command that stays inside: %s', (command) => {
    expect(policyOf().rule(readOnlyBash(command))).toMatchObject({
      behavior: 'allow',
      step: 'mode',
    });
  });

  test('is not allowed to an MCP tool that declares itself read-only', () => {
    expect(policyOf().rule(mcp('mcp__git__log', true)).behavior).toBe('ask');
  });
});
