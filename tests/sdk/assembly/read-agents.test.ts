import { describe, expect, test } from 'vitest';
import type { AgentCatalog } from '../../../src/config/agents/agent-catalog.js';
import type { LoadedSettings } from '../../../src/config/settings/load-settings.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import type { HostEnvironment } from '../../../src/sdk/assembly/options/host-environment.js';
import { knownTools } from '../../../src/sdk/assembly/options/known-tools.js';
import { agentNotices, readAgents } from '../../../src/sdk/assembly/read-agents.js';
import { builtinTools } from '../../../src/tools/builtin-tools.js';
import { temporaryFolder } from '../../config/temporary-folder.js';

const machine = (files: Readonly<Record<string, string>> = {}) => {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) folder.put(name, text);
  const settings: LoadedSettings = folder.load();
  const read = (agents?: string) =>
    readAgents(
      { ...(agents !== undefined && { agents }) },
      settings,
      { home: folder.home } as HostEnvironment,
      knownTools(builtinTools, true),
    );
  return { read, folder };
};

const typed = (fields: object) =>
  JSON.stringify({ a: { description: 'Looks', prompt: 'You look.', ...fields } });

describe('the agents of a run', () => {
  test('are the agents of the package and of --agents', async () => {
    const { agents } = await machine().read(typed({}));
    expect(agents.map(({ name }) => name)).toEqual([
      'a',
      'explorer',
      'implementer',
      'planner',
      'reviewer',
      'tester',
    ]);
  });

  test('leave out an agent with an unreadable deny rule', async () => {
    const text = '---\nname: a\ndescription: b\ndisallowedTools: Edit(!a)\n---\nYou look.';
    const { read } = machine({ 'home/.claude/agents/a.md': text });
    const { agents, unusable } = await read();
    expect(agents.some(({ name }) => name === 'a')).toBe(false);
    expect(unusable).toMatchObject([
      {
        name: 'a',
        problem: expect.stringMatching(/^The deny rule "Edit\(!a\)" in .*a\.md cannot/),
      },
    ]);
    await expect(read(typed({ disallowedTools: 'Edit(!a)' }))).rejects.toThrow(UsageError);
  });

  test.each([
    ['Bsah', 'there is no tool named "Bsah"; did you mean Bash?'],
    ['Bash(comand:rm)', 'Bash has no parameter "comand"; did you mean command?'],
  ])('leave out an agent with a deny rule that can never match: %s', async (tools, problem) => {
    const text = `---\nname: a\ndescription: b\ndisallowedTools: ${tools}\n---\nYou look.`;
    const { read } = machine({ 'home/.claude/agents/a.md': text });
    const { unusable } = await read();
    expect(unusable).toMatchObject([{ name: 'a', problem: expect.stringContaining(problem) }]);
    await expect(read(typed({ disallowedTools: tools }))).rejects.toThrow(problem);
  });

  test('do not get a tool whose allow rule is unreadable, with a warning', async () => {
    const { agents } = await machine().read(typed({ tools: 'Edit(!a)' }));
    expect(agents[0]?.warnings).toEqual([
      expect.stringContaining('The allow rule "Edit(!a)" in --agents (a) cannot be read'),
    ]);
  });
});

test.each([
  ['{}', 1],
  ['{"disableAllHooks": true}', 0],
])('with the settings %s agents have hooks: %i', async (settings, count) => {
  const hooks = { Stop: [{ hooks: [{ command: './end' }] }] };
  const { agents } = await machine({ 'home/.claude/settings.json': settings }).read(
    typed({ hooks }),
  );
  expect(agents[0]?.hooks).toHaveLength(count);
});

const IDLE = '---\nname: b\ndescription: b\nskills: pdf\n---\nYou look.';

describe('notices about agents before a run', () => {
  const catalog = (some: Partial<AgentCatalog>): AgentCatalog => ({
    agents: [],
    unusable: [],
    withheld: [],
    warnings: [],
    ...some,
  });
  const broken = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `a${n}`, path: '/a', problem: `Fix ${n}.` }));

  test('are empty if all agents can be used', () => {
    expect(agentNotices(catalog({ warnings: ['/a is ignored.'] }))).toEqual([]);
  });

  test('name fields of --agents that have no effect', async () => {
    const { read } = machine({ 'home/.claude/agents/b.md': IDLE });
    expect(agentNotices(await read(typed({ skills: 'pdf' })))).toEqual([
      'skills of --agents (a): no effect in this version.',
    ]);
  });

  test('name unusable agents, at most three', () => {
    expect(agentNotices(catalog({ unusable: broken(5) }))).toEqual([
      'Fix 0.',
      'Fix 1.',
      'Fix 2.',
      '2 more agents cannot be used; run skein agents.',
    ]);
  });
});
