/** Which tests `npm run test:fast` runs: the rule over the tests as they are, and over planted ones. */
import { describe, expect, test } from 'vitest';
import { chooseTests, chooseTestsIn } from '../setup/fast-tests.js';

/** Sorts a test file of the given text, beside helpers and sources that it may import. */
const choose = (text: string, others: Readonly<Record<string, string>> = {}) => {
  const files = Object.entries({ ...others, 'tests/lib/a.test.ts': text });
  return chooseTests(files.map(([file, content]) => ({ file, text: content })));
};

const PLANTED = 'tests/lib/a.test.ts';

describe('the fast tests', () => {
  test.each([
    ['starts a process', "import { spawn } from 'node:child_process';", 'node:child_process'],
    ['starts a process on demand', "await import('child_process');", 'child_process'],
    ['starts a thread', "import { Worker } from 'node:worker_threads';", 'node:worker_threads'],
    ['opens Redis', "import { Redis } from 'ioredis';", 'ioredis'],
    ['has a server of Redis', "import '../fakes/redis/a.js';", 'tests/fakes/redis/a.ts'],
    ['needs a tool', "import { needs } from '../setup/needs.js';", 'tests/setup/needs.ts'],
    ['reads the bundle', "readFileSync('dist/skein.js');", 'dist/skein.js'],
  ])('leave out a file that %s', (_, text, reason) => {
    const { fast, slow } = choose(text);
    expect(fast).toEqual([]);
    expect(slow.get(PLANTED)).toBe(`${PLANTED} → ${reason}`);
  });

  test('leave out a file whose helper or source starts a process, however far away', () => {
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

  test('have a file that only mentions processes, and one that imports their types', () => {
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

  test('are test files only', () => {
    expect(choose('', { 'tests/lib/helper.ts': '', 'src/lib/a.ts': '' }).fast).toEqual([PLANTED]);
  });

  const { fast, slow } = chooseTestsIn('.');

  test('are there for every pure room', () => {
    const rooms = new Set(fast.map((file) => file.split('/')[1]));
    expect([...rooms]).toEqual(
      expect.arrayContaining(['architecture.test.ts', 'context', 'machines', 'policy', 'prompt']),
    );
    expect(fast.length).toBeGreaterThan(slow.size);
  });

  test('have no journey, no worktree, no job in Redis and no bundle', () => {
    const wrong = /^tests\/(?:journeys|host\/worktrees|store\/redis\/jobs)\/|\/bundle\.test/;
    expect(fast.filter((file) => wrong.test(file))).toEqual([]);
    expect([...slow.keys()].filter((file) => wrong.test(file)).length).toBeGreaterThan(50);
  });
});
