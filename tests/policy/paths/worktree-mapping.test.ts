import { describe, expect, test } from 'vitest';
import type { PolicyOptions } from '../../../src/policy/policy.js';
import { bash, policyOf, read, readOnlyBash, rule, write } from '../policy-fixtures.js';

const OWN = '/home/ada/.skein/worktrees/s/a';

const inTree = (options: Partial<PolicyOptions> = {}) =>
  policyOf({ trees: [{ path: OWN, top: '/repo' }], mode: 'acceptEdits', ...options });

const at = (request: ReturnType<typeof bash>, cwd = OWN) => ({ ...request, cwd });

describe('an agent in a worktree', () => {
  test('works there as its parent does in the tree above', () => {
    expect(inTree().rule(write(`${OWN}/src/a.ts`)).behavior).toBe('allow');
    expect(inTree().rule(at(read('src/a.ts'))).behavior).toBe('allow');
    expect(inTree({ mode: 'default' }).rule(write(`${OWN}/src/a.ts`)).behavior).toBe('ask');
    expect(inTree().rule(at(readOnlyBash('cat src/a.ts'))).behavior).toBe('allow');
    expect(inTree().rule(write('/home/ada/.skein/worktrees/s/b/a.ts')).behavior).toBe('deny');
  });

  test('writes nowhere else, whatever the mode and the rules say, and is told where', () => {
    const free = inTree({ mode: 'bypassPermissions', rules: [rule('allow', '*')] });
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

  test('does not write through a link that leads out', () => {
    const realPath = (path: string) => path.replace(`${OWN}/out`, '/repo');
    expect(inTree({ realPath }).rule(write(`${OWN}/out/a.ts`)).behavior).toBe('deny');
  });

  test('reads the tree of its parent only where somebody agrees', () => {
    expect(inTree().rule(read('/repo/src/a.ts')).behavior).toBe('ask');
    expect(inTree().rule(at(readOnlyBash('cat /repo/src/a.ts'))).behavior).toBe('ask');
    expect(inTree({ surface: false }).rule(read('/repo/src/a.ts')).behavior).toBe('deny');
  });

  test.each([
    ['from the workspace', 'Edit(src/**)', undefined],
    ['from the folder of its file', 'Edit(/src/**)', '/repo/.claude/settings.json'],
    ['from the root of the disk', 'Edit(//repo/src/**)', undefined],
  ])('is held to a rule that counts %s', (_, text, file) => {
    const denied = inTree({ rules: [rule('deny', text, 'project', file)] });
    expect(denied.rule(write(`${OWN}/src/a.ts`))).toMatchObject({ behavior: 'deny', rule: {} });
    expect(denied.rule(write(`${OWN}/lib/a.ts`)).behavior).toBe('allow');
    const allowed = inTree({ mode: 'default', rules: [rule('allow', text, 'project', file)] });
    expect(allowed.rule(write(`${OWN}/src/a.ts`)).behavior).toBe('allow');
    expect(allowed.rule(write(`${OWN}/lib/a.ts`)).behavior).toBe('ask');
  });

  test('works in the same folder below, and beside it as its parent would', () => {
    const policy = inTree({ roots: ['/repo/pkg'] });
    expect(policy.rule(write(`${OWN}/pkg/a.ts`)).behavior).toBe('allow');
    expect(policy.rule(write(`${OWN}/other/a.ts`)).behavior).toBe('ask');
  });

  test('reads added directories and does not write there', () => {
    const policy = inTree({ roots: ['/repo', '/more'] });
    expect(policy.rule(read('/more/a.ts')).behavior).toBe('allow');
    expect(policy.rule(write('/more/a.ts')).behavior).toBe('deny');
  });

  test('of an agent in a worktree is held to the rules of both', () => {
    const inner = '/home/ada/.skein/worktrees/s/b';
    const policy = inTree({
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
