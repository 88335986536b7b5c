import { describe, expect, test } from 'vitest';
import { ruleProblems } from '../../src/policy/rules/compile-rules.js';
import { spawnAgent } from '../../src/tools/agents/spawn-agent.js';
import { policyOf, rule } from './policy-fixtures.js';

const rulingOf = (rules: Parameters<typeof policyOf>[0], type?: string) => {
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
    'is allowed without a question in mode %s because its calls are judged',
    (mode) => expect(rulingOf({ mode }, 'explorer')).toBe('allow: mode'),
  );

  test.each([
    ['Task', ['explorer', 'tester', undefined], []],
    ['Task(explorer)', ['explorer'], ['explorer-2', 'tester', undefined]],
    ['Task(team-*)', ['team-a'], ['explorer', undefined]],
    ['Task(fork)', [undefined], ['explorer']],
  ])('is denied by %s', (text, denied, others) => {
    const rules = [rule('deny', text)];
    expect(ruleProblems(rules)).toEqual([]);
    expect(denied.map((type) => rulingOf({ rules }, type))).toEqual(denied.map(() => 'deny: deny'));
    expect(others.map((type) => rulingOf({ rules }, type))).toEqual(
      others.map(() => 'allow: mode'),
    );
  });

  test('is asked if a rule requires it', () => {
    const rules = [rule('ask', 'Task(explorer)')];
    expect(rulingOf({ rules }, 'explorer')).toBe('ask: ask');
    expect(rulingOf({ rules }, 'tester')).toBe('allow: mode');
  });
});
