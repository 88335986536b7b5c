/** Demo repository: a temporary repository with a small program, a bug and tests. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const FILES: Readonly<Record<string, string>> = {
  'package.json': `{ "name": "flock", "private": true, "type": "module", "scripts": { "test": "node --test" } }\n`,
  'README.md': '# flock\n\nWhere each goose flies: one leads, the rest follow in a V.\n',
  'src/formation.js': `/** Places \`count\` geese in a V: the lead at 0, then one to the right, one to the left, and so on. */
export const formation = (count) => {
  const places = [];
  for (let bird = 0; bird < count; bird++) {
    const row = Math.floor(bird / 2);
    places.push({ row, offset: bird % 2 === 1 ? row : 0 - row });
  }
  return places;
};
`,
  'test/formation.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formation } from '../src/formation.js';

test('one goose leads', () => {
  assert.deepEqual(formation(1), [{ row: 0, offset: 0 }]);
});

test('the rest follow in pairs', () => {
  assert.deepEqual(formation(5), [
    { row: 0, offset: 0 },
    { row: 1, offset: 1 },
    { row: 1, offset: -1 },
    { row: 2, offset: 2 },
    { row: 2, offset: -2 },
  ]);
});
`,
};

export interface DemoRepository {
  /** Temporary folder that holds the repository and the state. The caller removes it. */
  readonly folder: string;
  readonly path: string;
  readonly hasGit: boolean;
  /** Resolves with the diff of all changes. Empty without git. */
  diff(): Promise<string>;
  testsPass(): Promise<boolean>;
}

export const makeDemoRepository = async (): Promise<DemoRepository> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'skein-demo-')));
  const path = join(folder, 'flock');
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), text);
  }
  const git = (...args: readonly string[]) => run('git', [...IDENTITY, ...args], { cwd: path });
  const hasGit = await git('init', '--quiet').then(
    () => true,
    () => false,
  );
  if (hasGit) {
    await git('add', '.');
    await git('commit', '--quiet', '--message', 'A flock in formation');
  }
  return {
    folder,
    path,
    hasGit,
    async diff() {
      if (!hasGit) return '';
      // Includes new files in the diff.
      await git('add', '--intent-to-add', '.');
      return (await git('diff')).stdout;
    },
    testsPass: () =>
      run(process.execPath, ['--test'], { cwd: path }).then(
        () => true,
        () => false,
      ),
  };
};

const IDENTITY = [
  '-c',
  'user.name=Skein demo',
  '-c',
  'user.email=demo@skein.invalid',
  '-c',
  'commit.gpgsign=false',
  '-c',
  'core.hooksPath=/dev/null',
];
