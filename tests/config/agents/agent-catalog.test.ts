import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findAgentDefinition, readAgentCatalog } from '../../../src/config/agents/agent-catalog.js';
import { readAgentsFlag } from '../../../src/config/agents/read-agents-flag.js';
import { findWorkspace } from '../../../src/config/workspace/workspace-folders.js';
import { temporaryFolder } from '../temporary-folder.js';

interface Machine {
  readonly files?: Readonly<Record<string, string>>;
  /** JSON of `--agents`. */
  readonly command?: string;
  readonly isTrusted?: boolean;
}

/** Reads all agents on a machine with these files. */
const catalogOf = async ({ files = {}, command, isTrusted = true }: Machine) => {
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

const described = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: It is ${name}\n${more}---\nYou are ${name}.\n`;

const COMMAND = '{"a": {"description": "Typed", "prompt": "You are typed."}}';

const EVERYWHERE = {
  'repo/.skein/agents/a.md': described('a'),
  'repo/.skein/agents/b.md': described('b'),
  'repo/.claude/agents/b.md': described('b'),
  'home/.skein/agents/b.md': described('b'),
  'home/.skein/agents/c.md': described('c'),
  'home/.claude/agents/c.md': described('c'),
  'package/agents/c.md': described('c'),
  'package/agents/d.md': described('d'),
};

describe('the agents that can be asked for', () => {
  test('are the strongest of each name: command, project, user, package', async () => {
    const { sources, agents } = await catalogOf({ files: EVERYWHERE, command: COMMAND });
    expect(sources).toEqual({ a: 'command', b: 'project', c: 'user', d: 'builtin' });
    expect(agents[1]?.path).toMatch(/repo\/\.skein\/agents\/b\.md$/);
    expect(agents[2]?.path).toMatch(/home\/\.skein\/agents\/c\.md$/);
  });

  test('are those of the user and of the package before those of a workspace that nobody trusts', async () => {
    const files = { ...EVERYWHERE, 'repo/.skein/agents/d.md': described('d') };
    const { sources } = await catalogOf({ files, command: COMMAND, isTrusted: false });
    expect(sources).toEqual({ a: 'command', b: 'user', c: 'user', d: 'builtin' });
  });

  test('are in the order of their names, whatever these are', async () => {
    const names = ['zoe', 'constructor', '__proto__', 'Abe', 'toString'];
    const files = names.map((name) => [`home/.skein/agents/${name}.md`, described(name)] as const);
    const { agents } = await catalogOf({ files: Object.fromEntries(files) });
    expect(agents.map(({ name }) => name)).toEqual([...names].sort());
  });

  test('are without one whose strongest file is broken, although a weaker one works', async () => {
    const files = {
      'repo/.claude/agents/c.md': 'You are c.',
      'package/agents/c.md': described('c'),
      'package/agents/d.md': described('d'),
    };
    const catalog = await catalogOf({ files });
    expect(catalog.sources).toEqual({ d: 'builtin' });
    expect(catalog.unusable.map(({ name }) => name)).toEqual(['c']);
    expect(findAgentDefinition('c', catalog)).toEqual({
      problem: expect.stringMatching(/c\.md does not describe an agent, at line 1: begin with/),
    });
  });

  test('are there although a broken file of a workspace that nobody trusts has their name', async () => {
    const files = { 'repo/.claude/agents/d.md': '', 'package/agents/d.md': described('d') };
    const { sources, warnings } = await catalogOf({ files, isTrusted: false });
    expect(sources).toEqual({ d: 'builtin' });
    expect(warnings).toEqual([expect.stringContaining('d.md does not describe an agent')]);
  });

  test('are none where there are none', async () => {
    const catalog = await catalogOf({});
    expect(catalog).toMatchObject({ agents: [], unusable: [], warnings: [], withheld: [] });
    expect(findAgentDefinition('a', catalog)).toEqual({
      problem: 'There is no agent "a". No agents are defined.',
    });
  });
});

describe('an agent of a workspace that nobody trusts', () => {
  const POWERS = [
    'model: opus',
    'permissionMode: acceptEdits',
    'mcpServers: github',
    'maxTurns: 3',
    'hooks: { Stop: [{ hooks: [{ command: ./end }] }] }',
    'tools: Bash',
  ].join('\n');
  const FILE = 'repo/.claude/agents/a.md';

  test('has its words and its tools, and neither model, mode, hooks nor servers', async () => {
    const files = { [FILE]: described('a', `${POWERS}\n`) };
    const { agents, withheld, folder } = await catalogOf({ files, isTrusted: false });
    const [agent] = agents;
    expect(agent).toMatchObject({ prompt: 'You are a.', tools: ['Bash'], maxTurns: 3 });
    expect(agent).toMatchObject({ hooks: [], mcpServers: [] });
    expect(agent?.model).toBeUndefined();
    expect(agent?.permissionMode).toBeUndefined();
    expect(agent?.warnings).toEqual([
      expect.stringContaining('no effect in this version'),
      `The workspace is not trusted, so the model opus, permissionMode acceptEdits, hooks, mcpServers of ${join(folder.path, FILE)} do not apply; run skein trust or pass --trust.`,
    ]);
    expect(withheld).toEqual(['a']);
  });

  test('is whole where somebody trusts it, and so is one of the user', async () => {
    const text = described('a', `${POWERS}\n`);
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

  test('is not spoken of when it asks for nothing of the kind', async () => {
    const { agents, withheld } = await catalogOf({
      files: { [FILE]: described('a') },
      isTrusted: false,
    });
    expect([agents[0]?.warnings, withheld]).toEqual([[], []]);
  });
});

describe('a name that is no agent', () => {
  test('is shown in bounds', async () => {
    const found = findAgentDefinition('x'.repeat(10_000), await catalogOf({ files: EVERYWHERE }));
    expect(found).toEqual({
      problem: `There is no agent "${'x'.repeat(64)}…". The agents are: a, b, c, d.`,
    });
  });
});
