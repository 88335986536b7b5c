import { describe, expect, test } from 'vitest';
import { agentsText } from '../../../../src/cli/commands/setup/agents-command.js';
import type { AgentCatalog } from '../../../../src/config/agents/agent-catalog.js';
import { readAgentsFlag } from '../../../../src/config/agents/read-agents-flag.js';

const shown = (fields: object, more: Partial<AgentCatalog> = {}) => {
  const entry = { description: 'Looks', prompt: 'You look.', ...fields };
  const agents = readAgentsFlag(JSON.stringify({ looker: entry }));
  const catalog = { agents, unusable: [], withheld: [], warnings: [], ...more };
  return agentsText(catalog, ['Read', 'Bash', 'Grep']);
};

const NO_EFFECT = '  skills, mcpServers of --agents (looker): no effect in this version.\n';

describe('the list of agents', () => {
  test('shows the source, the model and the tools of each agent', () => {
    expect(shown({})).toBe(
      [
        'looker  command · model of the lead · all tools but Bash, Write, Edit, MultiEdit, NotebookEdit',
        '  Looks',
        '  --agents (looker)\n',
      ].join('\n'),
    );
  });

  test.each([
    [{ tools: 'Read, Grep', model: 'haiku' }, 'command · haiku · Read, Grep\n'],
    [{ tools: '' }, '· no tools\n'],
    [{ tools: 'Read, Bash(ls:*), Bash(pwd)' }, '· Read, Bash(ls:*), Bash(pwd)\n'],
    [{ tools: '*', disallowedTools: 'Grep, Bash(rm:*)' }, '· *, without Grep, Bash(rm:*)\n'],
    [
      { tools: 'Read', permissionMode: 'plan', maxTurns: 3, maxBudgetUsd: 2.5, background: true },
      '· Read · mode plan · at most 3 turns · at most $2.50 · in the background\n',
    ],
    [{ permissionMode: 'acceptEdits' }, '· mode of its parent (acceptEdits only with --agent)\n'],
    [{ skills: 'pdf', mcpServers: 'a, b' }, NO_EFFECT],
    [{ tools: 'Read', isolation: 'worktree' }, '· Read · in a worktree\n'],
    [{ tools: 'Reed, mcp__x__y, Fly' }, '  There is no tool Reed: did you mean Read?\n'],
    [{ tools: 'Reed, mcp__x__y, Fly' }, '  There is no tool Fly.\n'],
    [{ description: 'a\nb\u001b[31mc' }, '\n  a bc\n'],
    [{ maxTurn: 1 }, 'maxTurn (did you mean maxTurns?).\n'],
  ])('shows %j', (fields, expected) => {
    expect(shown(fields)).toContain(expected);
  });

  test('ends with the unused definitions and the reasons', () => {
    const unusable = [{ name: 'a', path: '/a.md', problem: '/a.md does not describe an agent.' }];
    expect(shown({}, { unusable, warnings: ['/b.md is ignored.'] })).toMatch(
      /\n\nNot used:\n {2}\/a\.md does not describe an agent\.\n {2}\/b\.md is ignored\.\n$/,
    );
  });
});
