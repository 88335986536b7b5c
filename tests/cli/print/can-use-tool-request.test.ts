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

describe('a can_use_tool request', () => {
  test('has the documented fields', () => {
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

  test('names the asking agent and its parents if it is not the lead', () => {
    const askers = [
      { agent: 'a_2', type: 'builder', name: 'ann', task: 'Build it' },
      { agent: 'a_1', type: null, name: null, task: 'Look' },
    ];
    expect(canUseToolRequest(asked({ askers }))).toMatchObject({ agent_id: 'a_1', agents: askers });
  });

  test('suggests the rule of a whole tool, and no rule if none can be saved', () => {
    expect(canUseToolRequest(asked({ grant: 'mcp__birds__count' }))).toMatchObject({
      permission_suggestions: [{ rules: [{ toolName: 'mcp__birds__count' }] }, {}],
    });
    expect(canUseToolRequest(asked())).toMatchObject({ permission_suggestions: [] });
  });
});

describe('the answer to a can_use_tool request', () => {
  const answer = (response: object) => canUseToolAnswer(asked({ grant }), response);
  const allowWith = (...updatedPermissions: unknown[]) =>
    answer({ behavior: 'allow', updatedPermissions });

  test('may accept a suggestion', () => {
    expect(allowWith(update('session'))).toEqual({ behavior: 'allow', scope: 'session' });
    expect(allowWith(update('localSettings'))).toEqual({ behavior: 'allow', scope: 'project' });
    expect(allowWith(update('session'), update('localSettings'))).toMatchObject({
      scope: 'project',
    });
  });

  test.each([
    ['a wider rule', update('session', [{ toolName: 'Bash' }])],
    ['another tool', update('session', [{ ...rule, toolName: 'Edit' }])],
    ['two rules', update('session', [rule, { toolName: 'Edit' }])],
    ['another destination', update('userSettings')],
    ['a mode', { type: 'setMode', mode: 'bypassPermissions', destination: 'session' }],
    ['a number instead of rules', 7],
  ])('allows only this call if it has a permission update with %s', (_, permissionUpdate) => {
    expect(allowWith(permissionUpdate)).toEqual({ behavior: 'allow' });
  });

  test('cannot accept a suggestion if the request had none', () => {
    const updatedPermissions = [update('session')];
    expect(canUseToolAnswer(asked(), { behavior: 'allow', updatedPermissions })).toEqual({
      behavior: 'allow',
    });
  });

  test('denies with a reason and may interrupt the run', () => {
    expect(answer({ behavior: 'deny', message: 'No.', interrupt: true })).toEqual({
      behavior: 'deny',
      reason: 'No.',
      interrupt: true,
    });
    expect(answer({ behavior: 'perhaps' })).toBeUndefined();
  });
});
