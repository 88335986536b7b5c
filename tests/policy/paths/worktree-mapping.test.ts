import { describe, expect, test } from 'vitest';
import type { PolicyOptions } from '../../../src/policy/policy.js';
import { bash, policyOf, read, readOnlyBash, rule, write } from '../policy-fixtures.js';

const OWN = '/home/ada/.skein/worktrees/s/a';

const policyInTree = (options: Partial<PolicyOptions> = {}) =>
  policyOf({ trees: [{ path: OWN, top: '/repo' }], mode: 'acceptEdits', ...options });

const at = (request: ReturnType<typeof bash>, cwd = OWN) => ({ ...request, cwd });

describe('an agent in a worktree', () => {
  test('has the permissions of its parent in the parent tree', () => {
    expect(policyInTree().rule(write(`${OWN}/src/a.ts`)).behavior).toBe('allow');
    expect(policyInTree().rule(at(read('src/a.ts'))).behavior).toBe('allow');
    expect(policyInTree({ mode: 'default' }).rule(write(`${OWN}/src/a.ts`)).behavior).toBe('ask');
    expect(policyInTree().rule(at(readOnlyBash('cat src/a.ts'))).behavior).toBe('allow');
    expect(policyInTree().rule(write('/home/ada/.skein/worktrees/s/b/a.ts')).behavior).toBe('deny');
  });

  test('cannot write elsewhere in any mode, and gets the right path', () => {
    const free = policyInTree({ mode: 'bypassPermissions', rules: [rule('allow', '*')] });
    expect(free.rule(write('/repo/src/a.ts'))).toEqual({
      behavior: 'deny',
      step: 'deny',
      reason: `/repo/src/a.ts is outside of this agent's worktree: the agent may write only in ${OWN}.`,
      instead: `Change the file of that name below ${OWN} (here: ${OWN}/src/a.ts); your changes there are merged back when you end.`,
      blockedPath: '/repo/src/a.ts',
      risk: expect.any(String),
      readOnly: false,
    });
    expect(free.rule(write('/tmp/x')).behavior).toBe('deny');
    expect(free.rule(at(bash('make > /repo/log'))).behavior).toBe('deny');
    expect(free.rule(at(bash('rm -f /repo/a'))).behavior).toBe('deny');
    expect(free.rule(at(bash('cd /repo && make'))).behavior).toBe('deny');
    expect(free.rule(at(bash('make'), '/repo')).behavior).toBe('deny');
    expect(free.rule(at(bash('make'))).behavior).toBe('allow');
  });

  test('cannot write through a link that leads out', () => {
    const realPath = (path: string) => path.replace(`${OWN}/out`, '/repo');
    expect(policyInTree({ realPath }).rule(write(`${OWN}/out/a.ts`)).behavior).toBe('deny');
  });

  test('reads the tree of its parent only with approval', () => {
    expect(policyInTree().rule(read('/repo/src/a.ts')).behavior).toBe('ask');
    expect(policyInTree().rule(at(readOnlyBash('cat /repo/src/a.ts'))).behavior).toBe('ask');
    expect(policyInTree({ surface: false }).rule(read('/repo/src/a.ts')).behavior).toBe('deny');
  });

  test.each([
    ['relative to the workspace', 'Edit(src/**)', undefined],
    ['relative to the folder of its file', 'Edit(/src/**)', '/repo/.claude/settings.json'],
    ['relative to the root of the disk', 'Edit(//repo/src/**)', undefined],
  ])('obeys a rule %s', (_, text, file) => {
    const denied = policyInTree({ rules: [rule('deny', text, 'project', file)] });
    expect(denied.rule(write(`${OWN}/src/a.ts`))).toMatchObject({ behavior: 'deny', rule: {} });
    expect(denied.rule(write(`${OWN}/lib/a.ts`)).behavior).toBe('allow');
    const allowed = policyInTree({
      mode: 'default',
      rules: [rule('allow', text, 'project', file)],
    });
    expect(allowed.rule(write(`${OWN}/src/a.ts`)).behavior).toBe('allow');
    expect(allowed.rule(write(`${OWN}/lib/a.ts`)).behavior).toBe('ask');
  });

  test('works in the same subfolder, and beside it like its parent', () => {
    const policy = policyInTree({ roots: ['/repo/pkg'] });
    expect(policy.rule(write(`${OWN}/pkg/a.ts`)).behavior).toBe('allow');
    expect(policy.rule(write(`${OWN}/other/a.ts`)).behavior).toBe('ask');
  });

  test('may read added directories but not write there', () => {
    const policy = policyInTree({ roots: ['/repo', '/more'] });
    expect(policy.rule(read('/more/a.ts')).behavior).toBe('allow');
    expect(policy.rule(write('/more/a.ts')).behavior).toBe('deny');
  });

  test('inside another worktree obeys the rules of both', () => {
    const inner = '/home/ada/.skein/worktrees/s/b';
    const policy = policyInTree({
      trees: [
        { path: inner, top: OWN },
        { path: OWN, top: '/repo' },
      ],
      rules: [rule('deny', 'Edit(/src/**)', 'project', '/repo/.claude/settings.json')],
    });
    expect(policy.rule(write(`${inner}/src/a.ts`)).behavior).toBe('deny');
    expect(policy.rule(write(`${inner}/lib/a.ts`)).behavior).toBe('allow');
    expect(policy.rule(write(`${OWN}/lib/a.ts`)).behavior).toBe('deny');
    expect(policy.rule(at(bash('rm -f /repo/a'), inner)).behavior).toBe('deny');
  });
});
