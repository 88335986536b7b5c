import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ruleProblems } from '../../../src/policy/rules/compile-rules.js';
import { coversTool, parseRule } from '../../../src/policy/rules/parse-rule.js';
import { bash, policyOf, rule } from '../policy-fixtures.js';

describe('a rule', () => {
  test.each([
    ['Read', { tool: 'Read' }],
    [' Bash(npm run test:*) ', { tool: 'Bash', pattern: 'npm run test:*' }],
    ['Bash(echo "(a)" (b))', { tool: 'Bash', pattern: 'echo "(a)" (b)' }],
    ['mcp__git__*', { tool: 'mcp__git__*' }],
    ['mcp__my-server', { tool: 'mcp__my-server' }],
    ['*', { tool: '*' }],
  ])('is parsed: %s', (text, expected) => {
    expect(parseRule(text)).toEqual({ ok: true, rule: expected });
  });

  test.each([
    ['', 'empty'],
    ['   ', 'empty'],
    ['Bash(npm test', 'closing parenthesis'],
    ['Bash npm test)', 'opening parenthesis'],
    ['Bash()', 'parentheses are empty'],
    ['(npm test)', 'tool name'],
    ['Bash(a) b', 'closing parenthesis'],
    ['Ba sh', 'not a tool name'],
    ['Ba*', 'mcp__server__*'],
  ])('is reported if it is invalid: "%s"', (text, problem) => {
    const result = parseRule(text);
    expect(result.ok).toBe(false);
    expect(result).toHaveProperty('problem', expect.stringContaining(problem));
  });

  test('is either parsed or reported, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (name, pattern) => {
        for (const text of [name, `Read(${pattern})`, `Bash(${pattern})`, `${name}(${pattern}`]) {
          expect(typeof parseRule(text).ok).toBe('boolean');
          const rules = (['deny', 'ask', 'allow'] as const).map((behavior) => rule(behavior, text));
          const policy = policyOf({ rules });
          expect(['allow', 'deny', 'ask']).toContain(policy.rule(bash(pattern)).behavior);
        }
      }),
    );
  });
});

describe('an invalid rule', () => {
  test('never matches, and its message has the rule, the file and the problem', () => {
    const broken = rule('deny', 'Bash(rm', 'project', '/repo/.claude/settings.json');
    const policy = policyOf({ rules: [broken], mode: 'bypassPermissions' });
    expect(policy.rule(bash('rm')).behavior).toBe('allow');
    expect(policy.problems).toHaveLength(1);
    expect(policy.problems[0]?.message).toBe(
      'The deny rule "Bash(rm" in /repo/.claude/settings.json cannot be read: the closing parenthesis at its end is missing. It protects nothing until it is fixed.',
    );
  });

  test('is fatal if it is a deny or ask rule', () => {
    const rules = (['deny', 'ask', 'allow'] as const).map((behavior) => rule(behavior, 'Read([a'));
    expect(ruleProblems(rules).map(({ fatal }) => fatal)).toEqual([true, true, false]);
  });

  test.each(['Read(!a)', 'Read(#a)', 'Edit(a\\)', 'Grep([ab)'])(
    'may be an invalid path pattern: %s',
    (text) => {
      expect(ruleProblems([rule('deny', text)])).toHaveLength(1);
    },
  );
});

describe('the tool of a rule', () => {
  test.each([
    ['mcp__git', 'mcp__git__push', true],
    ['mcp__git__*', 'mcp__git__push', true],
    ['mcp__git__get_*', 'mcp__git__get_log', true],
    ['mcp__git__push', 'mcp__git__push', true],
    ['mcp__git', 'mcp__github__push', false],
    ['mcp__git__push', 'mcp__git__push_all', false],
    ['Read', 'ReadAll', false],
    ['*', 'Anything', true],
  ])('%s covers %s: %s', (ruleTool, tool, covered) => {
    expect(coversTool(ruleTool, tool)).toBe(covered);
  });
});
