import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { resolveModel } from '../../../src/config/settings/model-aliases.js';
import { ruleProblems } from '../../../src/policy/rules/compile-rules.js';
import type { PermissionRequest } from '../../../src/protocol/permission/ruling.js';
import {
  bash,
  fetchUrl,
  mcp,
  policyOf,
  read,
  rule,
  startsAgent,
  write,
} from '../policy-fixtures.js';

/** Table of rules in the document: a rule, calls that it matches, calls that it does not match. */
const rows = readFileSync('docs/permissions.md', 'utf8')
  .split('\n## Rules\n')[1]
  ?.split('\n## ')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line.split('|').map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1])),
  )
  .map(([, [text = ''] = [], matching = [], others = []]) => ({ text, matching, others }));

/** Parses a tool and its target or a parameter, such as `Bash npm test`, `Read a.txt` or `Task model=opus`. */
const requestOf = (call = ''): PermissionRequest => {
  const [, tool = '', name = '', value] = /^(\S+) (\w+)=(.*)$/.exec(call) ?? [];
  if (value === undefined) return requestAbout(call);
  const input = name === 'run_in_background' ? JSON.parse(value) : value;
  return { ...requestAbout(tool), inputs: [{ [name]: input }] };
};

const requestAbout = (call: string): PermissionRequest => {
  const [tool = '', ...rest] = call.split(' ');
  const about = rest.join(' ');
  if (tool.startsWith('mcp__')) return mcp(tool);
  if (tool === 'Bash') return bash(about);
  if (tool === 'WebFetch') return fetchUrl(about);
  if (tool === 'Task') return startsAgent(about);
  return ['Read', 'Grep', 'Glob'].includes(tool) ? read(about, tool) : write(about, tool);
};

describe('a documented rule', () => {
  test.each(rows ?? [])('matches the documented calls: $text', ({ text, matching, others }) => {
    const rules = [rule('deny', text, 'project', '/repo/.claude/settings.json')];
    expect(ruleProblems(rules)).toEqual([]);
    const policy = policyOf({ rules, modelNamed: resolveModel });
    const isDenied = (call: string | undefined) => policy.rule(requestOf(call)).step === 'deny';
    expect(matching.length).toBeGreaterThan(0);
    expect(matching.filter((call) => !isDenied(call))).toEqual([]);
    expect(others.filter(isDenied)).toEqual([]);
  });

  test('exists for each form of the grammar', () => {
    expect(rows?.length).toBeGreaterThan(12);
  });
});
