import { describe, expect, test } from 'vitest';
import { readAgentCatalog } from '../../../src/config/agents/agent-catalog.js';
import { EFFECT_TOOLS, givesTool } from '../../../src/protocol/agent/agent-definition.js';
import { builtinTools } from '../../../src/tools/builtin-tools.js';

const catalog = await readAgentCatalog({
  workspace: { root: '/nowhere', folders: [] },
  skeinHome: '/nowhere',
  home: '/nowhere',
  isTrusted: true,
  packageFolder: process.cwd(),
} as unknown as Parameters<typeof readAgentCatalog>[0]);

const effectsOf = (name: string) => {
  const agent = catalog.agents.find((candidate) => candidate.name === name);
  return [...EFFECT_TOOLS].filter(
    (tool) => agent !== undefined && givesTool(agent, { name: tool, kind: 'builtin' }),
  );
};

describe('the built-in agents', () => {
  test('are five, without warnings', () => {
    expect(catalog.agents.map(({ name }) => name)).toEqual([
      'explorer',
      'implementer',
      'planner',
      'reviewer',
      'tester',
    ]);
    expect(catalog).toMatchObject({ unusable: [], warnings: [], withheld: [] });
    expect(catalog.agents.flatMap(({ warnings, hooks }) => [...warnings, ...hooks])).toEqual([]);
  });

  test('have short texts because every agent of the type pays for them', () => {
    for (const { description, prompt } of catalog.agents) {
      expect(description.length).toBeLessThanOrEqual(100);
      expect(prompt.length).toBeLessThanOrEqual(700);
    }
  });

  test('list existing tools and share the prompt of the lead', () => {
    const known = builtinTools.map(({ name }) => name);
    for (const { tools = [], ownPrompt } of catalog.agents) {
      expect(tools.filter((tool) => !known.includes(tool))).toEqual([]);
      expect(tools).not.toEqual([]);
      expect(ownPrompt).toBe(false);
    }
  });

  test('write or run commands only if their role requires it', () => {
    for (const name of ['explorer', 'planner', 'reviewer']) expect(effectsOf(name)).toEqual([]);
    expect(effectsOf('tester')).toEqual(['Bash']);
    expect(effectsOf('implementer')).toEqual([...EFFECT_TOOLS]);
  });
});
