import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findAgentDefinition, readAgentCatalog } from '../../../src/config/agents/agent-catalog.js';
import { readAgentsFlag } from '../../../src/config/agents/read-agents-flag.js';
import { findWorkspace } from '../../../src/config/workspace/workspace-folders.js';
import { temporaryFolder } from '../temporary-folder.js';

interface Setup {
  readonly files?: Readonly<Record<string, string>>;
  /** JSON of `--agents`. */
  readonly command?: string;
  readonly isTrusted?: boolean;
}

/** Reads all agents of a temporary folder with these files. */
const catalogOf = async ({ files = {}, command, isTrusted = true }: Setup) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder.repo, '.git'));
  for (const [name, text] of Object.entries(files)) folder.put(name, text);
  const catalog = await readAgentCatalog({
    skeinHome: join(folder.home, '.skein'),
    home: folder.home,
    isTrusted,
    workspace: findWorkspace(folder.repo, folder.home),
    packageFolder: join(folder.path, 'package'),
    ...(command !== undefined && { ofCommand: readAgentsFlag(command) }),
  });
  const sources = catalog.agents.map(({ name, source }) => [name, source]);
  return { ...catalog, sources: Object.fromEntries(sources) as Record<string, string>, folder };
};

const definitionOf = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: It is ${name}\n${more}---\nYou are ${name}.\n`;

const COMMAND = '{"a": {"description": "Typed", "prompt": "You are typed."}}';

const FILES = {
  'repo/.skein/agents/a.md': definitionOf('a'),
  'repo/.skein/agents/b.md': definitionOf('b'),
  'repo/.claude/agents/b.md': definitionOf('b'),
  'home/.skein/agents/b.md': definitionOf('b'),
  'home/.skein/agents/c.md': definitionOf('c'),
  'home/.claude/agents/c.md': definitionOf('c'),
  'package/agents/c.md': definitionOf('c'),
  'package/agents/d.md': definitionOf('d'),
};

describe('the agent catalog', () => {
  test('has the definition of the strongest source for each name: command, project, user, package', async () => {
    const { sources, agents } = await catalogOf({ files: FILES, command: COMMAND });
    expect(sources).toEqual({ a: 'command', b: 'project', c: 'user', d: 'builtin' });
    expect(agents[1]?.path).toMatch(/repo\/\.skein\/agents\/b\.md$/);
    expect(agents[2]?.path).toMatch(/home\/\.skein\/agents\/c\.md$/);
  });

  test('prefers user and package definitions to an untrusted workspace', async () => {
    const files = { ...FILES, 'repo/.skein/agents/d.md': definitionOf('d') };
    const { sources } = await catalogOf({ files, command: COMMAND, isTrusted: false });
    expect(sources).toEqual({ a: 'command', b: 'user', c: 'user', d: 'builtin' });
  });

  test('is sorted by name, including names of object properties', async () => {
    const names = ['zoe', 'constructor', '__proto__', 'Abe', 'toString'];
    const files = names.map(
      (name) => [`home/.skein/agents/${name}.md`, definitionOf(name)] as const,
    );
    const { agents } = await catalogOf({ files: Object.fromEntries(files) });
    expect(agents.map(({ name }) => name)).toEqual([...names].sort());
  });

  test('omits a name if its strongest file is invalid, although a weaker file is valid', async () => {
    const files = {
      'repo/.claude/agents/c.md': '---\nname: c\n---\nYou are c.',
      'package/agents/c.md': definitionOf('c'),
      'package/agents/d.md': definitionOf('d'),
    };
    const catalog = await catalogOf({ files });
    expect(catalog.sources).toEqual({ d: 'builtin' });
    expect(catalog.unusable.map(({ name }) => name)).toEqual(['c']);
    expect(findAgentDefinition('c', catalog)).toEqual({
      problem: expect.stringMatching(/c\.md does not describe an agent, at line 1: say when/),
    });
  });

  test('ignores an invalid file of an untrusted workspace if a valid definition has the name', async () => {
    const files = {
      'repo/.claude/agents/d.md': '---\nname: d\n---\n',
      'package/agents/d.md': definitionOf('d'),
    };
    const { sources, warnings } = await catalogOf({ files, isTrusted: false });
    expect(sources).toEqual({ d: 'builtin' });
    expect(warnings).toEqual([expect.stringContaining('d.md does not describe an agent')]);
  });

  test('has the agents of sub-folders, and no documents', async () => {
    const files = {
      'repo/.claude/agents/README.md': '# Agents\n',
      'repo/.claude/agents/team/a.md': definitionOf('a'),
      'repo/.claude/agents/team/deep/b.md': definitionOf('b', 'argument: x: y\n'),
      'home/.claude/agents/team/c.md': definitionOf('c'),
    };
    const { sources, unusable, warnings } = await catalogOf({ files });
    expect(sources).toEqual({ a: 'project', b: 'project', c: 'user' });
    expect([unusable, warnings]).toEqual([[], []]);
  });

  test('has the definition of the upper folder if two files have a name, with a warning', async () => {
    const files = {
      'home/.claude/agents/a/x.md': definitionOf('x', 'maxTurns: 2\n'),
      'home/.claude/agents/z.md': definitionOf('x', 'maxTurns: 1\n'),
    };
    const { agents, warnings, folder } = await catalogOf({ files });
    expect(agents.map(({ maxTurns }) => maxTurns)).toEqual([1]);
    const at = (name: string) => join(folder.home, '.claude/agents', name);
    expect(warnings).toEqual([`${at('a/x.md')} is ignored: ${at('z.md')} already describes x.`]);
  });

  test('is empty without files', async () => {
    const catalog = await catalogOf({});
    expect(catalog).toMatchObject({ agents: [], unusable: [], warnings: [], withheld: [] });
    expect(findAgentDefinition('a', catalog)).toEqual({
      problem: 'There is no agent "a". No agents are defined.',
    });
  });
});

describe('an agent of an untrusted workspace', () => {
  const RESTRICTED_KEYS = [
    'model: opus',
    'permissionMode: acceptEdits',
    'mcpServers: github',
    'maxTurns: 3',
    'hooks: { Stop: [{ hooks: [{ command: ./end }] }] }',
    'tools: Bash',
  ].join('\n');
  const FILE = 'repo/.claude/agents/a.md';

  test('has its prompt and tools, but no model, mode, hooks and servers', async () => {
    const files = { [FILE]: definitionOf('a', `${RESTRICTED_KEYS}\n`) };
    const { agents, withheld } = await catalogOf({ files, isTrusted: false });
    const [agent] = agents;
    expect(agent).toMatchObject({ prompt: 'You are a.', tools: ['Bash'], maxTurns: 3 });
    expect(agent).toMatchObject({ hooks: [], mcpServers: [] });
    expect(agent?.model).toBeUndefined();
    expect(agent?.permissionMode).toBeUndefined();
    expect(agent?.warnings).toEqual([expect.stringContaining('no effect in this version')]);
    expect(withheld).toEqual([{ agent: 'a', fields: ['model', 'permissionMode', 'hooks'] }]);
  });

  test('is complete in a trusted workspace, as is an agent of the user', async () => {
    const text = definitionOf('a', `${RESTRICTED_KEYS}\n`);
    const trusted = await catalogOf({ files: { [FILE]: text } });
    const ofUser = await catalogOf({
      files: { 'home/.claude/agents/a.md': text },
      isTrusted: false,
    });
    for (const { agents, withheld } of [trusted, ofUser]) {
      expect(agents[0]).toMatchObject({ model: 'opus', permissionMode: 'acceptEdits' });
      expect(agents[0]?.hooks).toHaveLength(1);
      expect(withheld).toEqual([]);
    }
  });

  test('is not listed for MCP servers alone, because no server would start', async () => {
    const { withheld } = await catalogOf({
      files: { [FILE]: definitionOf('a', 'mcpServers: github\n') },
      isTrusted: false,
    });
    expect(withheld).toEqual([]);
  });

  test('has no warning without restricted keys', async () => {
    const { agents, withheld } = await catalogOf({
      files: { [FILE]: definitionOf('a') },
      isTrusted: false,
    });
    expect([agents[0]?.warnings, withheld]).toEqual([[], []]);
  });
});

describe('an unknown agent name', () => {
  test('is truncated in the message', async () => {
    const found = findAgentDefinition('x'.repeat(10_000), await catalogOf({ files: FILES }));
    expect(found).toEqual({
      problem: `There is no agent "${'x'.repeat(64)}…". The agents are: a, b, c, d.`,
    });
  });
});
