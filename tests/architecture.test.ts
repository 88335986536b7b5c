/** The house rules over the house as it stands, and over small houses that break one rule each. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as rules from './setup/house-rules.js';
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

describe('the house', () => {
  test('has a room for every file', () => {
    expect(src.length).toBeGreaterThan(0);
    expect(rules.everyFileHasARoom(src)).toEqual([]);
  });

  test('has imports that only go downstairs', () => {
    expect(rules.importsGoDownstairs(src)).toEqual([]);
  });

  test('has one door per dependency', () => {
    expect(rules.dependenciesHaveOneDoor(src)).toEqual([]);
  });

  test('has pure rooms without effects', () => {
    expect(rules.pureRoomsHaveNoEffects(src)).toEqual([]);
  });

  test('has small files and no junk drawer', () => {
    expect(rules.filesAreSmall(src)).toEqual([]);
    expect(rules.filesAreNamedForOneThing([...src, ...tests])).toEqual([]);
  });

  test('has no import cycle', () => {
    expect(rules.importsHaveNoCycles(src)).toEqual([]);
  });

  test('has tests that replace no module', () => {
    expect(rules.testsPassFakesIn(tests)).toEqual([]);
  });

  test('looks as its documents say', () => {
    const files = [...src, ...tests, ...readAll('scripts', /\.mjs$/)];
    expect(rules.documentsNameRealFiles(documents, files)).toEqual([]);
    const picture = /```\n([\s\S]*?)```/.exec(readFileSync('docs/architecture.md', 'utf8'))?.[1];
    expect(rules.ROOM_NAMES.filter((room) => !picture?.includes(room))).toEqual([]);
  });
});

describe('the house rules', () => {
  /** A house of the given files; a line of code is enough for each. */
  const house = (files: Record<string, string>): SourceFile[] =>
    Object.entries(files).map(([file, text]) => ({ file, text }));

  test('catch a file outside the rooms', () => {
    const files = house({ 'src/loose.ts': '', 'src/attic/box.ts': '', 'src/cli/main.ts': '' });
    expect(rules.everyFileHasARoom(files)).toEqual([
      'src/loose.ts is in no room',
      'src/attic/box.ts is in no room',
    ]);
  });

  test.each([
    ['upstairs', 'src/protocol/ids.ts', "import { a } from '../actors/agent.js';"],
    ['next door', 'src/prompt/marks.ts', "import type { A } from '../context/tokens.js';"],
    ['over several lines', 'src/store/lease-file.ts', "import {\n  a,\n} from '../host/shell.js';"],
    ['re-exported', 'src/tools/bash.ts', "export * from '../policy/rules.js';"],
    ['for its side effect', 'src/model/governor.ts', "import '../config/layers.js';"],
    ['lazily', 'src/ui/screen.ts', "const a = await import('../cli/main.js');"],
    ['of a prompt by the command line', 'src/cli/main.ts', "import '../prompt/section.js';"],
    ['the simulator', 'src/actors/agent.ts', "import { a } from '../simulator/server.js';"],
  ])('catch an import %s', (_, file, text) => {
    expect(rules.importsGoDownstairs(house({ [file]: text }))).toHaveLength(1);
  });

  test('let the command line start the simulator, and actors join the rooms', () => {
    const files = house({
      'src/cli/main.ts': "const { a } = await import('../simulator/server.js');",
      'src/actors/agent.ts': "import { a } from '../machines/agent-machine.js';",
      'src/machines/agent-machine.ts': "import { a } from '../protocol/agent.js';",
    });
    expect(rules.importsGoDownstairs(files)).toEqual([]);
  });

  test.each([
    ['the SDK', 'src/actors/model-turn.ts', "import Anthropic from '@anthropic-ai/sdk';"],
    ['a part of it', 'src/model/usage.ts', "import type { A } from '@anthropic-ai/sdk/core';"],
    ['the proxy agent', 'src/tools/web.ts', "await import('https-proxy-agent');"],
    ['nanoid', 'src/protocol/agent.ts', "import { nanoid } from 'nanoid';"],
    ['xstate', 'src/cli/main.ts', "import { createActor } from 'xstate';"],
    ['commander', 'src/actors/session.ts', "import { Command } from 'commander';"],
    ['ignore', 'src/tools/read-file.ts', "import ignore from 'ignore';"],
    ['a package without a door', 'src/tools/bash.ts', "import { execa } from 'execa';"],
  ])('catch a second door for %s', (_, file, text) => {
    expect(rules.dependenciesHaveOneDoor(house({ [file]: text }))).toHaveLength(1);
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
    ['chance', 'src/context/compaction.ts', 'const jitter = Math.random();'],
    ['the process', 'src/policy/paths.ts', 'const home = process.env.HOME;'],
    ['a timer', 'src/machines/call-board.ts', 'setTimeout(wake, 10);'],
    ['a log', 'src/machines/call-board.ts', 'console.log(calls);'],
  ])('catch %s in a pure room', (_, file, text) => {
    expect(rules.pureRoomsHaveNoEffects(house({ [file]: text }))).toHaveLength(1);
  });

  test('let pure rooms speak of effects, and others have them', () => {
    const files = house({
      'src/prompt/sections.ts':
        "// No Date.now here.\nexport const a = 'Explain your process. Use fetch().';",
      'src/policy/digest.ts': "import { createHash } from 'node:crypto';",
      'src/host/shell.ts': 'const at = Date.now();',
    });
    expect(rules.pureRoomsHaveNoEffects(files)).toEqual([]);
  });

  test('catch a file over 400 lines', () => {
    const lines = (count: number) => 'const a = 1;\n'.repeat(count);
    const files = house({ 'src/cli/main.ts': lines(401), 'src/cli/flags.ts': lines(400) });
    expect(rules.filesAreSmall(files)).toEqual(['src/cli/main.ts has 401 lines']);
  });

  test.each(['utils.ts', 'helpers.ts', 'types.ts', 'index.ts', 'agentMachine.ts'])(
    'catch the name %s',
    (name) => {
      expect(rules.filesAreNamedForOneThing(house({ [`src/tools/${name}`]: '' }))).toHaveLength(1);
    },
  );

  test('catch a cycle of values, and let types look back', () => {
    const cycle = {
      'src/tools/a.ts': "import { b } from './b.js';",
      'src/tools/b.ts': "import { c } from './c.js';",
      'src/tools/c.ts': "const a = await import('./a.js');",
      'src/tools/d.ts': "import { a } from './a.js';",
    };
    expect(rules.importsHaveNoCycles(house(cycle))).toEqual([
      'src/tools/a.ts → src/tools/b.ts → src/tools/c.ts → src/tools/a.ts',
    ]);
    const typed = { ...cycle, 'src/tools/c.ts': "import type { A } from './a.js';" };
    expect(rules.importsHaveNoCycles(house(typed))).toEqual([]);
  });

  test('catch a test that replaces a module', () => {
    const files = house({
      'tests/a.test.ts': "vi.mock('../src/tools/bash.js');",
      'tests/b.test.ts': "test('has no vi.mock', () => {});",
    });
    expect(rules.testsPassFakesIn(files)).toHaveLength(1);
  });

  test('catch a document that speaks of a file that is gone', () => {
    const documents = house({ 'docs/a.md': 'See `src/cli/main.ts` and `src/cli/gone.ts`.' });
    expect(rules.documentsNameRealFiles(documents, house({ 'src/cli/main.ts': '' }))).toEqual([
      'docs/a.md speaks of src/cli/gone.ts, which is not there',
    ]);
  });

  test('see no import in a comment, a string or a file that is written out', () => {
    const files = house({
      'src/protocol/ids.ts': [
        "// import { a } from '../cli/main.js';",
        "/* import '../cli/main.js' */",
        'const quoted = "import(\'../cli/main.js\')";',
        "const demo = `\nimport { a } from '../cli/main.js';\n`;",
        'const pattern = /[\'"`]/;',
      ].join('\n'),
    });
    expect(rules.importsGoDownstairs(files)).toEqual([]);
  });
});
