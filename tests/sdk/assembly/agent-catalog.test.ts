import { describe, expect, test } from 'vitest';
import type { AgentRoster } from '../../../src/config/agents/agent-catalog.js';
import type { LoadedSettings } from '../../../src/config/settings/load-settings.js';
import { UsageError } from '../../../src/protocol/errors.js';
import { rosterFor, rosterNotices } from '../../../src/sdk/assembly/agent-catalog.js';
import type { HostEnvironment } from '../../../src/sdk/assembly/options/host-environment.js';
import { temporaryFolder } from '../../config/folder.js';

const machine = (files: Readonly<Record<string, string>> = {}) => {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) folder.put(name, text);
  const settings: LoadedSettings = folder.load();
  const read = (agents?: string) =>
    rosterFor({ ...(agents !== undefined && { agents }) }, settings, {
      home: folder.home,
    } as HostEnvironment);
  return { read, folder };
};

const typed = (fields: object) =>
  JSON.stringify({ a: { description: 'Looks', prompt: 'You look.', ...fields } });

describe('the agents of a run', () => {
  test('are those of the package and those of the command', async () => {
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

  test('are without one that is denied a part of a tool in words nobody can read', async () => {
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

  test('have nothing of a tool that is given in words nobody can read, and say so', async () => {
    const { agents } = await machine().read(typed({ tools: 'Edit(!a)' }));
    expect(agents[0]?.warnings).toEqual([
      expect.stringContaining('The allow rule "Edit(!a)" in --agents (a) cannot be read'),
    ]);
  });
});

test.each([
  ['{}', 1],
  ['{"disableAllHooks": true}', 0],
])('agents have hooks where the settings say %s: %i', async (settings, count) => {
  const hooks = { Stop: [{ hooks: [{ command: './end' }] }] };
  const { agents } = await machine({ 'home/.claude/settings.json': settings }).read(
    typed({ hooks }),
  );
  expect(agents[0]?.hooks).toHaveLength(count);
});

const IDLE = '---\nname: b\ndescription: b\nskills: pdf\n---\nYou look.';

describe('what a person hears of agents before a run', () => {
  const roster = (some: Partial<AgentRoster>): AgentRoster => ({
    agents: [],
    unusable: [],
    withheld: [],
    warnings: [],
    ...some,
  });
  const broken = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ name: `a${n}`, path: '/a', problem: `Mend ${n}.` }));

  test('is nothing where all is well', () => {
    expect(rosterNotices(roster({ warnings: ['/a is ignored.'] }))).toEqual([]);
  });

  test('is what has no effect in an agent that was typed just now', async () => {
    const { read } = machine({ 'home/.claude/agents/b.md': IDLE });
    expect(rosterNotices(await read(typed({ skills: 'pdf' })))).toEqual([
      'skills of --agents (a): no effect in this version.',
    ]);
  });

  test('is what cannot be used, in bounds', () => {
    expect(rosterNotices(roster({ unusable: broken(5) }))).toEqual([
      'Mend 0.',
      'Mend 1.',
      'Mend 2.',
      '2 more agents cannot be used; run skein agents.',
    ]);
  });
});
