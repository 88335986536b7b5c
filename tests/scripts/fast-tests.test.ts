/** The choice of tests for `npm run test:fast`, applied to this repository and to planted test files. */
import { describe, expect, test } from 'vitest';
import { chooseTests, chooseTestsIn } from '../setup/fast-tests.js';

/** Sorts a test file with this text. `imported` has helpers and sources by path. */
const choose = (text: string, imported: Readonly<Record<string, string>> = {}) => {
  const files = Object.entries({ ...imported, 'tests/lib/a.test.ts': text });
  return chooseTests(files.map(([file, content]) => ({ file, text: content })));
};

const PLANTED = 'tests/lib/a.test.ts';

describe('the fast tests', () => {
  test.each([
    ['starts a process', "import { spawn } from 'node:child_process';", 'node:child_process'],
    ['starts a process on demand', "await import('child_process');", 'child_process'],
    ['starts a thread', "import { Worker } from 'node:worker_threads';", 'node:worker_threads'],
    ['opens Redis', "import { Redis } from 'ioredis';", 'ioredis'],
    ['starts a Redis server', "import '../fakes/redis/a.js';", 'tests/fakes/redis/a.ts'],
    ['needs a tool', "import { needs } from '../setup/needs.js';", 'tests/setup/needs.ts'],
    ['reads the bundle', "readFileSync('dist/skein.cjs');", 'dist/skein.cjs'],
  ])('exclude a file that %s', (_, text, reason) => {
    const { fast, slow } = choose(text);
    expect(fast).toEqual([]);
    expect(slow.get(PLANTED)).toBe(`${PLANTED} → ${reason}`);
  });

  test('exclude a file that starts a process through a chain of imports', () => {
    const { fast, slow } = choose("import { helper } from '../fakes/helper.js';", {
      'tests/fakes/helper.ts': "export { git } from '../../src/host/git.js';",
      'src/host/git.ts': "const { run } = await import('./run.js');",
      'src/host/run.ts': "import { execFile } from 'node:child_process';",
    });
    expect(fast).toEqual([]);
    expect(slow.get(PLANTED)).toBe(
      `${PLANTED} → tests/fakes/helper.ts → src/host/git.ts → src/host/run.ts → node:child_process`,
    );
  });

  test('include a file that mentions processes in comments and strings, or imports their types', () => {
    const text = [
      "// import { spawn } from 'node:child_process';",
      "import type { ChildProcess } from 'node:child_process';",
      "import { a } from '../../src/lib/a.js';",
      'const planted = "import cp from \'node:child_process\'";',
      "const host = 'redis.distant/dist';",
    ].join('\n');
    const circle = {
      'src/lib/a.ts': "import { b } from './b.js';",
      'src/lib/b.ts': "import { a } from './a.js'; const folder = 'dist/';",
    };
    expect(choose(text, circle).fast).toEqual([PLANTED]);
  });

  test('include test files only', () => {
    expect(choose('', { 'tests/lib/helper.ts': '', 'src/lib/a.ts': '' }).fast).toEqual([PLANTED]);
  });

  const { fast, slow } = chooseTestsIn('.');

  test('include tests of every pure room, and more files than the slow tests', () => {
    const rooms = new Set(fast.map((file) => file.split('/')[1]));
    expect([...rooms]).toEqual(
      expect.arrayContaining(['architecture.test.ts', 'context', 'machines', 'policy', 'prompt']),
    );
    expect(fast.length).toBeGreaterThan(slow.size);
  });

  test('exclude journeys, worktrees, jobs in Redis and the bundle', () => {
    const slowFolders = /^tests\/(?:journeys|host\/worktrees|store\/redis\/jobs)\/|\/bundle\.test/;
    expect(fast.filter((file) => slowFolders.test(file))).toEqual([]);
    expect([...slow.keys()].filter((file) => slowFolders.test(file)).length).toBeGreaterThan(50);
  });
});
