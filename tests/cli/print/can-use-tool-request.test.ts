import { describe, expect, test } from 'vitest';
import {
  canUseToolAnswer,
  canUseToolRequest,
} from '../../../src/cli/print/can-use-tool-request.js';
import type { PermissionQuestion } from '../../../src/protocol/permission/permission-question.js';

const asked = (more: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  id: 'q_1',
  agent: 'a_1',
  call: 'toolu_1',
  tool: 'Bash',
  input: { command: 'ls' },
  inputDigest: 'd',
  cwd: '/repo',
  risk: 'high',
  description: 'ls',
  reason: 'No rule.',
  ...more,
});

const rule = { toolName: 'Bash', ruleContent: 'npm run (x):*' };
const update = (destination: string, rules: unknown = [rule]) => ({
  type: 'addRules',
  rules,
  behavior: 'allow',
  destination,
});
const grant = 'Bash(npm run (x):*)';

describe('a question to a driver', () => {
  test('has the fields that drivers know', () => {
    const more = { blockedPath: '/etc/hosts', grant };
    expect(canUseToolRequest(asked(more))).toEqual({
      subtype: 'can_use_tool',
      tool_name: 'Bash',
      input: { command: 'ls' },
      tool_use_id: 'toolu_1',
      agent_id: 'a_1',
      description: 'ls',
      decision_reason: 'No rule.',
      risk: 'high',
      blocked_path: '/etc/hosts',
      permission_suggestions: [update('session'), update('localSettings')],
    });
  });

  test('says who asks, and for whom, where that is not the lead', () => {
    const askers = [
      { agent: 'a_2', type: 'builder', name: 'ann', task: 'Build it' },
      { agent: 'a_1', type: null, name: null, task: 'Look' },
    ];
    expect(canUseToolRequest(asked({ askers }))).toMatchObject({ agent_id: 'a_1', agents: askers });
  });

  test('suggests the rule of a whole tool, and nothing if no rule can be saved', () => {
    expect(canUseToolRequest(asked({ grant: 'mcp__birds__count' }))).toMatchObject({
      permission_suggestions: [{ rules: [{ toolName: 'mcp__birds__count' }] }, {}],
    });
    expect(canUseToolRequest(asked())).toMatchObject({ permission_suggestions: [] });
  });
});

describe('what a driver answers', () => {
  const answer = (response: object) => canUseToolAnswer(asked({ grant }), response);
  const taking = (...updatedPermissions: unknown[]) =>
    answer({ behavior: 'allow', updatedPermissions });

  test('may take a suggestion', () => {
    expect(taking(update('session'))).toEqual({ behavior: 'allow', scope: 'session' });
    expect(taking(update('localSettings'))).toEqual({ behavior: 'allow', scope: 'project' });
    expect(taking(update('session'), update('localSettings'))).toMatchObject({ scope: 'project' });
  });

  test.each([
    ['a wider rule', update('session', [{ toolName: 'Bash' }])],
    ['another tool', update('session', [{ ...rule, toolName: 'Edit' }])],
    ['two rules', update('session', [rule, { toolName: 'Edit' }])],
    ['another place', update('userSettings')],
    ['a mode', { type: 'setMode', mode: 'bypassPermissions', destination: 'session' }],
    ['nonsense', 7],
  ])('allows this call alone when it has %s of its own making', (_, made) => {
    expect(taking(made)).toEqual({ behavior: 'allow' });
  });

  test('accepts no suggestion if there was none', () => {
    const updatedPermissions = [update('session')];
    expect(canUseToolAnswer(asked(), { behavior: 'allow', updatedPermissions })).toEqual({
      behavior: 'allow',
    });
  });

  test('is a no with a reason, and may end the run', () => {
    expect(answer({ behavior: 'deny', message: 'No.', interrupt: true })).toEqual({
      behavior: 'deny',
      reason: 'No.',
      interrupt: true,
    });
    expect(answer({ behavior: 'perhaps' })).toBeUndefined();
  });
});
