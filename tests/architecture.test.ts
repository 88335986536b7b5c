/** Applies the architecture rules to this repository, and to small sets of files that each break a rule. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as rules from './setup/architecture-rules.js';
import {
  pronounsInComments,
  pronounsInDocuments,
  pronounsInTitles,
  roomsOf,
} from './setup/english-rules.js';
import * as layout from './setup/layout-rules.js';
import type { SourceFile } from './setup/source-text.js';

const read = (file: string): SourceFile => ({ file, text: readFileSync(file, 'utf8') });

const readAll = (folder: string, name = /\.tsx?$/): SourceFile[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => name.test(file))
    .map((file) => read(join(folder, file)));

const src = readAll('src');
const tests = readAll('tests');
const documents = [
  ...readAll('docs', /\.md$/),
  ...['README.md', 'CONTRIBUTING.md', 'AGENTS.md'].filter((file) => existsSync(file)).map(read),
];

/**
 * Maximum share of pronouns such as `one`, `those`, `whoever` and `something` in the comments of a room, in
 * percent of the words. Lower a figure when a room gets better; never raise one.
 */
const MAX_PRONOUN_PERCENT: Readonly<Record<string, number>> = {
  actors: 0.6,
  cli: 0.7,
  config: 0.5,
  context: 0.4,
  host: 0.3,
  lib: 0.5,
  machines: 0.7,
  memory: 1.0,
  model: 0.5,
  policy: 0.6,
  prompt: 0.4,
  protocol: 1.0,
  sdk: 0.9,
  simulator: 0.4,
  store: 0.1,
  terminal: 0.9,
  tools: 0.4,
  ui: 0.4,
  views: 0.8,
};

const MAX_PRONOUN_PERCENT_OF_DOCUMENTS = 0.4;
const MAX_PRONOUN_PERCENT_OF_TESTS = { comments: 0.5, titles: 0.2 };

describe('the source tree', () => {
  test('has a room for every file', () => {
    expect(src.length).toBeGreaterThan(0);
    expect(rules.everyFileHasARoom(src)).toEqual([]);
  });

  test('has imports that only go down the rooms', () => {
    expect(rules.importsGoDown(src)).toEqual([]);
  });

  test('has one door per dependency', () => {
    expect(rules.dependenciesHaveOneDoor(src)).toEqual([]);
  });

  test('has pure rooms without effects', () => {
    expect(rules.pureRoomsHaveNoEffects(src)).toEqual([]);
  });

  test('has files of at most 400 lines with specific names', () => {
    expect(rules.filesAreSmall(src)).toEqual([]);
    expect(rules.filesHaveSpecificNames([...src, ...tests])).toEqual([]);
  });

  test('has no import cycle', () => {
    expect(rules.importsHaveNoCycles(src)).toEqual([]);
  });

  test('has folders of at most 20 files', () => {
    expect(layout.foldersAreSmall([...src, ...tests])).toEqual([]);
  });

  test('has folders that import each other in one direction', () => {
    expect(layout.foldersImportOneWay(src)).toEqual([]);
  });

  test('has files named after an export', () => {
    expect(layout.filesAreNamedAfterAnExport(src)).toEqual([]);
  });

  test('exports each name from a single file', () => {
    expect(layout.exportsAreUnique(src)).toEqual([]);
  });

  test('has no literal spreads', () => {
    expect(layout.noLiteralSpreads([...src, ...tests])).toEqual([]);
  });

  test.each([...roomsOf(src)])(
    'names subjects instead of pronouns in the comments of %s',
    (room, files) => {
      expect(pronounsInComments(files).percent).toBeLessThanOrEqual(MAX_PRONOUN_PERCENT[room] ?? 0);
    },
  );

  test('names subjects instead of pronouns in the titles and comments of tests', () => {
    const { comments, titles } = MAX_PRONOUN_PERCENT_OF_TESTS;
    expect(pronounsInComments(tests).percent).toBeLessThanOrEqual(comments);
    expect(pronounsInTitles(tests).percent).toBeLessThanOrEqual(titles);
  });

  test('names subjects instead of pronouns in the documents', () => {
    const { percent } = pronounsInDocuments(documents);
    expect(percent).toBeLessThanOrEqual(MAX_PRONOUN_PERCENT_OF_DOCUMENTS);
  });

  test('has tests that replace no module', () => {
    expect(rules.testsPassFakesIn(tests)).toEqual([]);
  });

  test('has the files and rooms that its documents name', () => {
    const files = [...src, ...tests, ...readAll('scripts', /\.mjs$/)];
    expect(rules.documentsNameRealFiles(documents, files)).toEqual([]);
    const picture = /```\n([\s\S]*?)```/.exec(readFileSync('docs/architecture.md', 'utf8'))?.[1];
    expect(rules.ROOM_NAMES.filter((room) => !picture?.includes(room))).toEqual([]);
  });

  test('has the folders of the tree in its documents, and no others', () => {
    const page = readFileSync('docs/architecture.md', 'utf8');
    expect(layout.treeNamesEveryFolder(page, src)).toEqual([]);
  });
});

describe('the architecture rules', () => {
  /** Builds source files from their texts by path. */
  const sources = (files: Record<string, string>): SourceFile[] =>
    Object.entries(files).map(([file, text]) => ({ file, text }));

  test('report a file outside the rooms', () => {
    const files = sources({ 'src/loose.ts': '', 'src/attic/box.ts': '', 'src/cli/main.ts': '' });
    expect(rules.everyFileHasARoom(files)).toEqual([
      'src/loose.ts is in no room',
      'src/attic/box.ts is in no room',
    ]);
  });

  test.each([
    ['of a higher room', 'src/protocol/ids.ts', "import { a } from '../actors/agent.js';"],
    [
      'of a middle room by another',
      'src/prompt/marks.ts',
      "import type { A } from '../context/tokens.js';",
    ],
    ['over several lines', 'src/store/lease-file.ts', "import {\n  a,\n} from '../host/shell.js';"],
    ['in a re-export', 'src/tools/bash.ts', "export * from '../policy/rules.js';"],
    ['for its side effect', 'src/model/governor.ts', "import '../config/layers.js';"],
    ['on demand', 'src/ui/screen.ts', "const a = await import('../cli/main.js');"],
    ['of the prompt room by the command line', 'src/cli/main.ts', "import '../prompt/section.js';"],
    [
      'of the simulator by actors',
      'src/actors/agent.ts',
      "import { a } from '../simulator/server.js';",
    ],
  ])('report a forbidden import %s', (_, file, text) => {
    expect(rules.importsGoDown(sources({ [file]: text }))).toHaveLength(1);
  });

  test('allow the command line to import the simulator, and actors to import machines', () => {
    const files = sources({
      'src/cli/main.ts': "const { a } = await import('../simulator/server.js');",
      'src/actors/agent.ts': "import { a } from '../machines/agent-machine.js';",
      'src/machines/agent-machine.ts': "import { a } from '../protocol/agent.js';",
    });
    expect(rules.importsGoDown(files)).toEqual([]);
  });

  test.each([
    ['the SDK', 'src/actors/model-turn.ts', "import Anthropic from '@anthropic-ai/sdk';"],
    ['a part of the SDK', 'src/model/usage.ts', "import type { A } from '@anthropic-ai/sdk/core';"],
    ['the proxy agent', 'src/tools/web.ts', "await import('https-proxy-agent');"],
    ['nanoid', 'src/protocol/agent.ts', "import { nanoid } from 'nanoid';"],
    ['xstate', 'src/cli/main.ts', "import { createActor } from 'xstate';"],
    ['commander', 'src/actors/session.ts', "import { Command } from 'commander';"],
    ['ignore', 'src/tools/read-file.ts', "import ignore from 'ignore';"],
    ['a package without a door', 'src/tools/bash.ts', "import { execa } from 'execa';"],
  ])('report an import of %s outside its door', (_, file, text) => {
    expect(rules.dependenciesHaveOneDoor(sources({ [file]: text }))).toHaveLength(1);
  });

  test.each([
    ['the disk', 'src/prompt/sections.ts', "import { readFileSync } from 'node:fs';"],
    ['the network', 'src/policy/rules.ts', "const net = await import('node:net');"],
    ['a child process', 'src/context/tokens.ts', "import cp from 'node:child_process';"],
    [
      'timers',
      'src/machines/agent-machine.ts',
      "import { setTimeout } from 'node:timers/promises';",
    ],
    ['the clock', 'src/machines/agent-machine.ts', 'const at = Date.now();'],
    ['the date', 'src/prompt/sections.ts', 'const today = `It is $' + '{new Date()}.`;'],
    ['random numbers', 'src/context/compaction.ts', 'const jitter = Math.random();'],
    ['the process', 'src/policy/paths.ts', 'const home = process.env.HOME;'],
    ['a timer', 'src/machines/call-board.ts', 'setTimeout(wake, 10);'],
    ['a log', 'src/machines/call-board.ts', 'console.log(calls);'],
  ])('report the use of %s in a pure room', (_, file, text) => {
    expect(rules.pureRoomsHaveNoEffects(sources({ [file]: text }))).toHaveLength(1);
  });

  test('allow effects in comments and strings of pure rooms, and in other rooms', () => {
    const files = sources({
      'src/prompt/sections.ts':
        "// No Date.now here.\nexport const a = 'Explain your process. Use fetch().';",
      'src/policy/digest.ts': "import { createHash } from 'node:crypto';",
      'src/host/shell.ts': 'const at = Date.now();',
    });
    expect(rules.pureRoomsHaveNoEffects(files)).toEqual([]);
  });

  test('report a file over 400 lines', () => {
    const lines = (count: number) => 'const a = 1;\n'.repeat(count);
    const files = sources({ 'src/cli/main.ts': lines(401), 'src/cli/flags.ts': lines(400) });
    expect(rules.filesAreSmall(files)).toEqual(['src/cli/main.ts has 401 lines']);
  });

  test.each(['utils.ts', 'helpers.ts', 'types.ts', 'index.ts', 'agentMachine.ts'])(
    'report the file name %s',
    (name) => {
      expect(rules.filesHaveSpecificNames(sources({ [`src/tools/${name}`]: '' }))).toHaveLength(1);
    },
  );

  test('report a folder of more than 20 files', () => {
    const files = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`src/tools/a/t${at}.ts`, '']));
    expect(layout.foldersAreSmall(sources(files(20)))).toEqual([]);
    expect(layout.foldersAreSmall(sources(files(21)))).toEqual(['src/tools/a has 21 files']);
  });

  test('report folders of a room that import each other, except for types', () => {
    const circle = {
      'src/tools/a/one.ts': "import { two } from '../b/two.js';",
      'src/tools/b/two.ts': "import { three } from '../three.js';",
      'src/tools/three.ts': "import { one } from './a/one.js';",
    };
    expect(layout.foldersImportOneWay(sources(circle))).toHaveLength(3);
    const typed = { ...circle, 'src/tools/three.ts': "import type { One } from './a/one.js';" };
    expect(layout.foldersImportOneWay(sources(typed))).toEqual([]);
  });

  test('report a file without an export of its name', () => {
    const files = sources({
      'src/store/redis-store.ts': 'export class RedisStore {}',
      'src/store/http-url.ts': 'export const HTTPUrl = 1;',
      'src/store/max-jobs.ts': 'export const MAX_JOBS = 1;',
      'src/store/other.ts': 'export const another = 1;\nconst other = 2;',
    });
    expect(layout.filesAreNamedAfterAnExport(files)).toEqual([
      'src/store/other.ts exports nothing with its name',
    ]);
  });

  test('report a name that two files export', () => {
    const files = sources({
      'src/store/lease.ts': 'export interface Lease {}',
      'src/host/lease.ts': "export type Lease = string; export { Clock } from './clock.js';",
      'src/host/clock.ts': 'export class Clock {}',
    });
    expect(layout.exportsAreUnique(files)).toEqual([
      'Lease is exported by src/store/lease.ts and src/host/lease.ts',
    ]);
  });

  test.each([
    ['an object', 'const a = { ...{ b, c }, d };'],
    ['an array', 'const a = [...[b, c], d];'],
    ['arguments', 'f(...([b, c] as const));'],
  ])('report a literal that is spread into %s', (_, text) => {
    expect(layout.noLiteralSpreads(sources({ 'src/cli/a.ts': text }))).toHaveLength(1);
  });

  test('allow spreads of conditions, results and parameters', () => {
    const text =
      'const a = { ...(b && { c }), ...d(), e: [...[f].map(g)] };\nconst h = (...i: J[]) => i;';
    expect(layout.noLiteralSpreads(sources({ 'src/cli/a.ts': text }))).toEqual([]);
  });

  test('count vague pronouns in comments and documents, but not in code', () => {
    const text = [
      '/** Told to whoever waits for one. */',
      "const text = 'nobody and nothing';",
      '// `what` names the reason.',
    ].join('\n');
    const { pronouns, words } = pronounsInComments(sources({ 'src/cli/a.ts': text }));
    expect({ pronouns, words }).toEqual({ pronouns: 2, words: 9 });
    const page = '# Agents\n\nSomebody waits.\n\n```\nnobody\n```\n';
    expect(pronounsInDocuments(sources({ 'docs/a.md': page })).pronouns).toBe(1);
  });

  test('count vague pronouns in the titles of tests', () => {
    const titles = [
      "describe('a queue', () => {",
      "  test('gives it to whoever came first', () => {});",
      "  test.each([\n    ['one'],\n  ])('refuses %s', () => {});",
      '  test.skipIf(isRoot)(`tells nobody`, () => {});',
    ].join('\n');
    const { pronouns, words } = pronounsInTitles(sources({ 'tests/cli/a.test.ts': titles }));
    expect({ pronouns, words }).toEqual({ pronouns: 2, words: 12 });
  });

  test('report an import cycle of values, but not of types', () => {
    const cycle = {
      'src/tools/a.ts': "import { b } from './b.js';",
      'src/tools/b.ts': "import { c } from './c.js';",
      'src/tools/c.ts': "const a = await import('./a.js');",
      'src/tools/d.ts': "import { a } from './a.js';",
    };
    expect(rules.importsHaveNoCycles(sources(cycle))).toEqual([
      'src/tools/a.ts → src/tools/b.ts → src/tools/c.ts → src/tools/a.ts',
    ]);
    const typed = { ...cycle, 'src/tools/c.ts': "import type { A } from './a.js';" };
    expect(rules.importsHaveNoCycles(sources(typed))).toEqual([]);
  });

  test('report a test that replaces a module', () => {
    const files = sources({
      'tests/a.test.ts': "vi.mock('../src/tools/bash.js');",
      'tests/b.test.ts': "test('has no vi.mock', () => {});",
    });
    expect(rules.testsPassFakesIn(files)).toHaveLength(1);
  });

  test('report a document that names a missing file', () => {
    const documents = sources({ 'docs/a.md': 'See `src/cli/main.ts` and `src/cli/gone.ts`.' });
    expect(rules.documentsNameRealFiles(documents, sources({ 'src/cli/main.ts': '' }))).toEqual([
      'docs/a.md speaks of src/cli/gone.ts, which is not there',
    ]);
  });

  test('report folders that the tree of a document lacks or invents', () => {
    const page = '```\nsrc\n├─ cli   entry\n│  └─ run\n└─ lib\n   └─ json   parsing\n```\n';
    const files = { 'src/cli/run/a.ts': '', 'src/lib/json/b.ts': '' };
    expect(layout.treeNamesEveryFolder(page, sources(files))).toEqual([]);
    const moved = { 'src/cli/main.ts': '', 'src/lib/json/deep/b.ts': '' };
    expect(layout.treeNamesEveryFolder(page, sources(moved))).toEqual([
      'the tree lacks src/lib/json/deep',
      'src/cli/run does not exist',
    ]);
  });

  test('find no import in a comment, a string, a template or a regular expression', () => {
    const files = sources({
      'src/protocol/ids.ts': [
        "// import { a } from '../cli/main.js';",
        "/* import '../cli/main.js' */",
        'const quoted = "import(\'../cli/main.js\')";',
        "const demo = `\nimport { a } from '../cli/main.js';\n`;",
        'const pattern = /[\'"`]/;',
      ].join('\n'),
    });
    expect(rules.importsGoDown(files)).toEqual([]);
  });
});
