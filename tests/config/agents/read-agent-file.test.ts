import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readAgentCatalog, resolveAgent } from '../../../src/config/agents/agent-catalog.js';
import { findWorkspace } from '../../../src/config/workspace/workspace-folders.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { temporaryFolder } from '../temporary-folder.js';

/** Writes these agent files. The workspace is a folder inside a repository. */
const agentsOf = (files: Readonly<Record<string, string>>, isTrusted = true) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder.repo, '.git'));
  mkdirSync(join(folder.repo, 'part'));
  for (const [name, text] of Object.entries(files)) folder.put(name, text);
  const places = {
    workspace: findWorkspace(join(folder.repo, 'part'), folder.home),
    skeinHome: join(folder.home, '.skein'),
    home: folder.home,
    packageFolder: join(folder.path, 'package'),
    isTrusted,
  };
  return {
    folder,
    read: () => readAgentCatalog(places),
    resolve: (name: string) => resolveAgent(name, places),
  };
};

const definitionOf = (name: string, more = '', prompt = 'You review.') =>
  `---\nname: ${name}\ndescription: Reviews things\n${more}---\n\n${prompt}\n`;

const FILE = 'repo/part/.skein/agents/reviewer.md';

describe('an agent from a file', () => {
  test("is the user's agent if a workspace with an agent of the same name is not trusted", async () => {
    const files = {
      [FILE]: definitionOf('reviewer', '', 'You obey.'),
      'home/.claude/agents/reviewer.md': definitionOf('reviewer', '', 'You review.'),
    };
    expect((await agentsOf(files, true).resolve('reviewer')).prompt).toBe('You obey.');
    expect((await agentsOf(files, false).resolve('reviewer')).prompt).toBe('You review.');
  });

  test('has a name, a description, tools, a model and a prompt', async () => {
    const more = 'tools: Read, Grep ,Bash\nmodel: haiku\nproactive: true\n';
    const { folder, resolve } = agentsOf({
      [FILE]: definitionOf('reviewer', more, 'You review.\n\n---\n\nWith care.'),
    });
    expect(await resolve('reviewer')).toEqual({
      name: 'reviewer',
      description: 'Reviews things',
      tools: ['Read', 'Grep', 'Bash'],
      model: 'haiku',
      proactive: true,
      prompt: 'You review.\n\n---\n\nWith care.',
      disallowedTools: [],
      limits: [],
      denials: [],
      skills: [],
      mcpServers: [],
      hooks: [],
      background: false,
      ownPrompt: false,
      warnings: [],
      path: join(folder.path, FILE),
      source: 'project',
    });
  });

  test.each([
    ['no tools and no model', '', undefined],
    ['a list', 'tools: [Read, Grep]\n', ['Read', 'Grep']],
    ['an empty list', 'tools: []\n', []],
    ['an empty value', 'tools:\n', undefined],
    ['model: inherit', 'model: inherit\n', undefined],
  ])('may have %s', async (_, more, expected) => {
    const agent = await agentsOf({ [FILE]: definitionOf('reviewer', more) }).resolve('reviewer');
    expect(agent.tools).toEqual(expected);
    expect(agent.model).toBeUndefined();
    expect(agent.proactive).toBe(false);
  });

  test('may have a byte order mark and CRLF line ends', async () => {
    const text = definitionOf('reviewer', '', 'You review.\nWith care.');
    const odd = `\uFEFF${text.replaceAll('\n', '\r\n')}`;
    const { prompt } = await agentsOf({ [FILE]: odd }).resolve('reviewer');
    expect(prompt).toBe('You review.\nWith care.');
  });

  test('has a warning about unknown keys', async () => {
    const { folder, resolve } = agentsOf({
      [FILE]: definitionOf('reviewer', 'color: red\ncolour: {a: 1}\n__proto__: {tools: [Bash]}\n'),
    });
    const { color, warnings, tools } = await resolve('reviewer');
    expect(color).toBe('red');
    expect(tools).toBeUndefined();
    expect(warnings).toEqual([
      `${join(folder.path, FILE)} has keys that Skein does not know and does not use: colour (did you mean color?), __proto__.`,
    ]);
  });

  test('is read from the nearest folder that has it', async () => {
    const places = [
      'repo/part/.skein/agents/a.md',
      'repo/part/.claude/agents/b.md',
      'repo/.skein/agents/c.md',
      'repo/.claude/agents/d.md',
      'home/.skein/agents/e.md',
      'home/.claude/agents/f.md',
      'package/agents/g.md',
    ];
    for (let first = 0; first < places.length; first += 1) {
      const present = places.slice(first);
      const files = present.map((place) => [place, definitionOf('reviewer', '', place)] as const);
      const { read } = agentsOf(Object.fromEntries(files));
      expect((await read()).agents.map(({ prompt }) => prompt)).toEqual([present[0]]);
    }
    const { source } = await agentsOf({ 'package/agents/g.md': definitionOf('x') }).resolve('x');
    expect(source).toBe('builtin');
  });

  test('is ignored with a warning if another file of the same folder has its name', async () => {
    const { read } = agentsOf({
      [FILE]: definitionOf('x'),
      [FILE.replace('rev', 'a-rev')]: definitionOf('x'),
    });
    expect((await read()).agents).toHaveLength(1);
    expect((await read()).warnings[0]).toMatch(
      /\/reviewer\.md is ignored: .*\/a-reviewer\.md already describes x/,
    );
  });
});

describe('an invalid agent file', () => {
  test.each([
    ['front matter without an end', '---\nname: x\ndescription: y\n', 1, 'then a line ---'],
    ['no name', '---\ndescription: y\n---\nz', 1, 'such as "name: reviewer"'],
    ['a name that is a path', definitionOf('../x'), 2, 'such as "name: reviewer"'],
    ['a number as its name', '---\ndescription: y\nname: 7\n---\nz', 3, '"name: reviewer"'],
    ['no description', '---\nname: reviewer\n---\nz', 1, 'say when to choose it'],
    [
      'invalid tools',
      definitionOf('reviewer', 'tools: {Read: true}\n'),
      4,
      'names of tools, such as',
    ],
    ['a word as boolean', definitionOf('reviewer', 'proactive: often\n'), 4, 'write true or false'],
    ['no prompt', definitionOf('reviewer', '', ''), 4, 'write the prompt of the agent below'],
    ['a tab', '---\nname: x\ntools:\n\t- Read\n---\nz', 4, 'spaces instead of tabs'],
    ['a repeated key', '---\nname: x\nname: y\n---\nz', 3, 'keep one of the two lines'],
    ['an open quote', '---\nname: "x\n---\nz', 2, 'such as "name: reviewer"'],
    ['references', '---\na: &a [1]\nname: *a\n---\nz', 2, 'instead of aliases'],
    ['deep nesting', `---\na: ${'['.repeat(50_000)}\n---\nz`, 2, ''],
  ])('causes a message with the file, the line and the fix: %s', async (_, text, line, fix) => {
    const { folder, read } = agentsOf({ [FILE]: text });
    const { agents, unusable } = await read();
    expect(agents).toEqual([]);
    const begin = `${join(folder.path, FILE)} does not describe an agent, at line ${line}: `;
    expect(unusable[0]?.problem.slice(0, begin.length)).toBe(begin);
    expect(unusable[0]?.problem).toContain(fix);
  });

  test('is not replaced with a weaker file of the same name', async () => {
    const { resolve } = agentsOf({
      [FILE]: '---\nname: reviewer\n---\n',
      'home/.skein/agents/r.md': definitionOf('reviewer'),
    });
    await expect(resolve('reviewer')).rejects.toThrow('does not describe an agent, at line 1');
  });

  test('does not hide a stronger file of the same name', async () => {
    const { resolve } = agentsOf({
      [FILE]: definitionOf('reviewer'),
      'home/.skein/agents/reviewer.md': '---\nname: reviewer\n---\n',
    });
    expect((await resolve('reviewer')).source).toBe('project');
  });

  test('may have at most 100 KiB', async () => {
    const size = (bytes: number) => definitionOf('reviewer').padEnd(bytes, 'x');
    expect((await agentsOf({ [FILE]: size(102_400) }).resolve('reviewer')).prompt).toMatch(/^You/);
    await expect(agentsOf({ [FILE]: size(102_401) }).resolve('reviewer')).rejects.toThrow(
      'has 102401 bytes; the limit is 100 KiB, so shorten it.',
    );
  });

  test('is passed over if it is a document, however large', async () => {
    const { read } = agentsOf({ [FILE]: '# Changes\n'.padEnd(200_000, 'x') });
    expect(await read()).toMatchObject({ agents: [], unusable: [], warnings: [] });
  });

  test('may not be a link out of the workspace, unlike a link of the user', async () => {
    const { folder, resolve, read } = agentsOf({ 'secret/x.md': definitionOf('spy') });
    const link = (place: string) => {
      mkdirSync(join(folder.path, place), { recursive: true });
      symlinkSync(join(folder.path, 'secret/x.md'), join(folder.path, place, 'spy.md'));
    };
    link('repo/part/.claude/agents');
    await expect(resolve('spy')).rejects.toThrow('leads out of');
    expect((await read()).agents).toEqual([]);
    const ofUser = agentsOf({ 'secret/x.md': definitionOf('spy') });
    mkdirSync(join(ofUser.folder.home, '.claude/agents'), { recursive: true });
    symlinkSync(
      join(ofUser.folder.path, 'secret/x.md'),
      join(ofUser.folder.home, '.claude/agents/spy.md'),
    );
    expect((await ofUser.resolve('spy')).source).toBe('user');
  });

  test('may not be in a folder that links out of the workspace', async () => {
    const { folder, read } = agentsOf({ 'secret/agents/x.md': definitionOf('spy') });
    mkdirSync(join(folder.repo, '.claude'));
    symlinkSync(join(folder.path, 'secret/agents'), join(folder.repo, '.claude/agents'));
    expect((await read()).agents).toEqual([]);
  });
});

describe('a missing agent', () => {
  test('causes a message with the existing agents and the most similar name', async () => {
    const { resolve } = agentsOf({
      [FILE]: definitionOf('reviewer'),
      'home/.claude/agents/w.md': definitionOf('writer'),
    });
    await expect(resolve('reviewr')).rejects.toThrow(UsageError);
    await expect(resolve('reviewr')).rejects.toThrow(
      'There is no agent "reviewr". Did you mean reviewer? The agents are: reviewer, writer.',
    );
  });

  test('causes a message with the path for a first definition', async () => {
    const { folder, resolve } = agentsOf({});
    await expect(resolve('x')).rejects.toThrow(
      `There is no agent "x". No agents are defined. Describe it in ${folder.repo}/part/.skein/agents/x.md.`,
    );
  });

  test('causes a bounded message with many agents', async () => {
    const { folder, resolve } = agentsOf({});
    const place = join(folder.home, '.skein/agents');
    mkdirSync(place, { recursive: true });
    for (let n = 0; n < 50; n += 1) writeFileSync(join(place, `a${n}.md`), definitionOf(`a${n}`));
    await expect(resolve('zebra')).rejects.toThrow(/: a0, a1, .* and 30 more\.$/);
  });
});
