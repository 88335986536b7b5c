import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentToolset } from '../../src/policy/agent-toolset.js';
import { EFFECT_TOOLS } from '../../src/protocol/agent/agent-definition.js';
import { PERMISSION_MODES } from '../../src/protocol/permission/permission-mode.js';
import {
  bash,
  hostTool,
  mcp,
  policyOf,
  read,
  readOnlyBash,
  rule,
  write,
} from './policy-fixtures.js';

type Definition = Parameters<typeof agentToolset>[0];

const BUILTINS = ['Read', 'Bash', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit'] as const;

const SHOWN: Parameters<typeof agentToolset>[1] = [
  ...BUILTINS.map((name) => ({ name, kind: 'builtin' }) as const),
  { name: 'mcp__github__list', kind: 'mcp' },
  { name: 'mcp__githubber__list', kind: 'mcp', onlyReads: true },
];

/** Returns the toolset of an agent with these fields in its definition. */
const toolset = (definition: Partial<Definition> = {}) =>
  agentToolset(
    { name: 'looker', disallowedTools: [], limits: [], denials: [], ...definition },
    SHOWN,
  );

const ALLOW_ALL = [rule('allow', '*')];

/** Rules on a call in a workspace whose rules allow every call. */
const ruling = (definition: Partial<Definition>, request: ReturnType<typeof read>) =>
  policyOf({
    tools: toolset(definition),
    rules: ALLOW_ALL,
    mode: 'bypassPermissions',
  }).rule(request);

const may = (definition: Partial<Definition>, request: ReturnType<typeof read>) =>
  ruling(definition, request).behavior === 'allow';

describe('an agent whose definition lists no tools', () => {
  test.each([
    write('/repo/a', 'Write'),
    write('/repo/a', 'Edit'),
    write('/repo/a', 'MultiEdit'),
    write('/repo/a.ipynb', 'NotebookEdit'),
    bash('touch a'),
    readOnlyBash('ls'),
  ])('may neither write nor run commands: $tool $subject.target', (request) => {
    const denied = ruling({}, request);
    expect(denied).toMatchObject({ behavior: 'deny', step: 'deny' });
    expect(denied.reason).toContain(
      `The definition of the agent looker does not allow ${request.tool}: `,
    );
  });

  test('may use other built-in tools and read-only MCP tools', () => {
    expect(may({}, read('/repo/a'))).toBe(true);
    expect(may({}, mcp('mcp__githubber__list'))).toBe(true);
    expect(may({}, mcp('mcp__github__list'))).toBe(false);
  });

  test('is denied effects in every mode and with any rule', () => {
    const requests = [bash('touch a'), ...[...EFFECT_TOOLS].map((tool) => write('/repo/a', tool))];
    const anything = fc.record({
      mode: fc.constantFrom(...PERMISSION_MODES),
      request: fc.constantFrom(...requests),
      texts: fc.subarray(['*', 'Bash', 'Bash(touch:*)', 'Edit', 'Write(/a)']),
    });
    fc.assert(
      fc.property(anything, ({ mode, request, texts }) => {
        const rules = texts.map((text) => rule('allow', text));
        const { behavior } = policyOf({ tools: toolset(), rules, mode }).rule(request);
        expect(behavior).toBe('deny');
      }),
    );
  });
});

describe('an agent whose definition lists tools', () => {
  test('may use only these tools', () => {
    expect(may({ tools: ['Read', 'Bash'] }, bash('touch a'))).toBe(true);
    expect(may({ tools: ['Read', 'Bash'] }, write('/repo/a'))).toBe(false);
    expect(may({ tools: [] }, read('/repo/a'))).toBe(false);
  });

  test('may list a server, a prefix of names, or all tools', () => {
    expect(may({ tools: ['mcp__github'] }, mcp('mcp__github__list'))).toBe(true);
    expect(may({ tools: ['mcp__github'] }, mcp('mcp__githubber__list'))).toBe(false);
    expect(may({ tools: ['mcp__git*'] }, mcp('mcp__githubber__list'))).toBe(true);
    expect(may({ tools: ['*'] }, bash('touch a'))).toBe(true);
  });

  test('may not use a disallowed tool', () => {
    expect(may({ tools: ['*'], disallowedTools: ['Bash'] }, bash('touch a'))).toBe(false);
    expect(may({ disallowedTools: ['mcp__github'] }, mcp('mcp__github__list'))).toBe(false);
  });

  test('still needs permission for its tools', () => {
    const policy = policyOf({ tools: toolset({ tools: ['Bash'] }) });
    expect(policy.rule(bash('touch a')).behavior).toBe('ask');
  });
});

describe('an agent with a part of a tool', () => {
  const partial = { tools: ['Bash', 'Edit'], limits: ['Bash(git diff:*)', 'Bash(npm test)'] };

  test.each([
    ['git diff HEAD', true],
    ['npm test', true],
    ['git diff | head -3', true],
    ['git diff && npm test', true],
    ['git push', false],
    ['git diff && git push', false],
    ['git diff > out', false],
    ['cat notes', false],
  ])('may run %s: %s', (command, expected) => {
    expect(may(partial, bash(command))).toBe(expected);
  });

  test('is denied with the allowed part', () => {
    expect(ruling(partial, bash('git push')).reason).toBe(
      'The definition of the agent looker allows Bash only for Bash(git diff:*), Bash(npm test), not for Bash "git push".',
    );
  });

  test('may use the other tools completely', () => {
    expect(may(partial, write('/repo/a', 'Edit'))).toBe(true);
  });

  test('has paths relative to the workspace', () => {
    const limits = ['Edit(/src/**)'];
    expect(may({ tools: ['Edit'], limits }, write('/repo/src/a', 'Edit'))).toBe(true);
    expect(may({ tools: ['Edit'], limits }, write('/repo/a', 'Edit'))).toBe(false);
  });

  test('is denied a tool whose rule is invalid', () => {
    expect(may({ tools: ['Edit'], limits: ['Edit(!a)'] }, write('/repo/a', 'Edit'))).toBe(false);
  });
});

describe('an agent with a denied part of a tool', () => {
  test('may use the rest of the tool', () => {
    const partlyDenied = { tools: ['Bash'], denials: ['Bash(git push:*)'] };
    expect(may(partlyDenied, bash('git status'))).toBe(true);
    expect(may(partlyDenied, bash('cd a && git push origin'))).toBe(false);
    expect(ruling(partlyDenied, bash('git push')).reason).toBe(
      'The definition of the agent looker denies Bash(git push:*).',
    );
  });
});

test('an agent without a definition is not limited', () => {
  expect(policyOf({ rules: ALLOW_ALL }).rule(hostTool('deploy')).behavior).toBe('allow');
});
