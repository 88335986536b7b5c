import { expect, test } from 'vitest';
import { forbiddenTools } from '../../../src/policy/rules/forbidden-tools.js';
import { rule } from '../policy-fixtures.js';

const TOOLS = [
  ...['Bash', 'Read', 'Grep', 'Edit', 'Write', 'WebFetch'].map((name) => ({
    name,
    kind: 'builtin' as const,
  })),
  { name: 'mcp__tickets__list', kind: 'mcp' as const },
];
const hidden = (...rules: readonly Parameters<typeof rule>[]) =>
  forbiddenTools(
    rules.map(([behavior, text]) => rule(behavior, text)),
    TOOLS,
  );

test.each([
  ['Bash', ['Bash']],
  ['Bash(*)', ['Bash']],
  ['WebFetch( * )', ['WebFetch']],
  ['Edit', ['Edit', 'Write']],
  ['mcp__tickets', ['mcp__tickets__list']],
  ['Bash(rm:*)', []],
  ['Read(*)', []],
  ['Read(src/**)', []],
  ['WebFetch(domain:a.example)', []],
  ['Bash(', []],
])('a deny rule %s hides %j', (text, tools) => {
  expect(hidden(['deny', text])).toEqual(tools);
});

test('rules to ask and to allow hide no tool', () => {
  expect(hidden(['ask', 'Bash'], ['allow', 'Read'])).toEqual([]);
});
