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

/** Tools with effects that the role of an agent requires. */
const EFFECTS: Readonly<Record<string, readonly string[]>> = {
  explorer: [],
  implementer: [...EFFECT_TOOLS],
  planner: [],
  reviewer: [],
  tester: ['Bash'],
};

describe('the built-in agents', () => {
  test('are the known agents, without warnings', () => {
    expect(catalog.agents.map(({ name }) => name)).toEqual(Object.keys(EFFECTS));
    expect(catalog).toMatchObject({ unusable: [], warnings: [], withheld: [] });
    expect(catalog.agents.flatMap(({ warnings, hooks }) => [...warnings, ...hooks])).toEqual([]);
  });

  test('have short texts because every agent of the type pays for them', () => {
    for (const { description, prompt } of catalog.agents) {
      expect(description.length).toBeLessThanOrEqual(100);
      expect(prompt.length).toBeLessThanOrEqual(700);
    }
  });

  test('name no tools in their roles, because a rule may hide any tool', () => {
    const named = catalog.agents.flatMap(({ name, prompt }) =>
      builtinTools
        .filter((tool) => new RegExp(`\\b${tool.name}\\b(?! (?:enough|the code))`).test(prompt))
        .map((tool) => `${name}: ${tool.name}`),
    );
    expect(named).toEqual([]);
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
    const effects = catalog.agents.map((agent) => [
      agent.name,
      [...EFFECT_TOOLS].filter((name) => givesTool(agent, { name, kind: 'builtin' })),
    ]);
    expect(Object.fromEntries(effects)).toEqual(EFFECTS);
  });
});
