import { describe, expect, test } from 'vitest';
import { ruleProblems } from '../../src/policy/rules/compile-rules.js';
import { spawnAgent } from '../../src/tools/agents/spawn-agent.js';
import { policyOf, rule } from './policy-fixtures.js';

const ruled = (rules: Parameters<typeof policyOf>[0], type?: string) => {
  const input = { description: 'a', prompt: 'b', subagent_type: type };
  const { behavior, step } = policyOf(rules).rule({
    tool: spawnAgent.name,
    subject: spawnAgent.subject(input),
    cwd: '/repo',
    readOnly: spawnAgent.isReadOnly(input),
  });
  return `${behavior}: ${step}`;
};

describe('starting an agent', () => {
  test.each(['default', 'plan', 'dontAsk', 'bypassPermissions'] as const)(
    'needs no question in mode %s, since each of its calls is judged',
    (mode) => expect(ruled({ mode }, 'explorer')).toBe('allow: mode'),
  );

  test.each([
    ['Task', ['explorer', 'tester', undefined], []],
    ['Task(explorer)', ['explorer'], ['explorer-2', 'tester', undefined]],
    ['Task(team-*)', ['team-a'], ['explorer', undefined]],
    ['Task(fork)', [undefined], ['explorer']],
  ])('is denied by %s', (text, meant, others) => {
    const rules = [rule('deny', text)];
    expect(ruleProblems(rules)).toEqual([]);
    expect(meant.map((type) => ruled({ rules }, type))).toEqual(meant.map(() => 'deny: deny'));
    expect(others.map((type) => ruled({ rules }, type))).toEqual(others.map(() => 'allow: mode'));
  });

  test('is put to a person where a rule says so', () => {
    const rules = [rule('ask', 'Task(explorer)')];
    expect(ruled({ rules }, 'explorer')).toBe('ask: ask');
    expect(ruled({ rules }, 'tester')).toBe('allow: mode');
  });
});
