import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { treeOf } from '../../host/worktrees/tree-hash.js';
import { needs } from '../../setup/needs.js';
import { bash, type Call, rewindScene } from './rewind-scene.js';

const NOTEBOOK = {
  cells: [
    { cell_type: 'code', id: 'one', metadata: {}, source: 'x', outputs: [], execution_count: null },
  ],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
};

const name = fc.constantFrom('a', 'b', 'd/c', 'd/e/f', '.dot', 'sp ace', 'ü', 'script.sh');
const folder = fc.constantFrom('d', 'd/e', 'new', 'new/deep', 'empty');
const text = fc.constantFrom(
  'x\n',
  'x y x\n',
  '',
  'no newline',
  'x\u0000binary',
  'x'.repeat(5_000),
);

const quoted = (path: string) => `'${path}'`;

const fileCalls: fc.Arbitrary<readonly Call[]> = fc.oneof(
  fc.tuple(name, text).map(([file_path, content]) => [
    { tool: 'Read', input: { file_path } },
    { tool: 'Write', input: { file_path, content } },
  ]),
  name.map((file_path) => [
    { tool: 'Read', input: { file_path } },
    { tool: 'Edit', input: { file_path, old_string: 'x', new_string: 'z', replace_all: true } },
  ]),
  name.map((file_path) => [
    { tool: 'Read', input: { file_path } },
    {
      tool: 'MultiEdit',
      input: { file_path, edits: [{ old_string: 'y', new_string: 'yy' }] },
    },
  ]),
  fc.string().map((source) => [
    { tool: 'Read', input: { file_path: 'n.ipynb' } },
    {
      tool: 'NotebookEdit',
      input: { notebook_path: 'n.ipynb', cell_id: 'one', new_source: source },
    },
  ]),
);

const command: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(name, name).map(([a, b]) => `mv ${quoted(a)} ${quoted(b)}`),
  fc.tuple(name, name).map(([a, b]) => `cp ${quoted(a)} ${quoted(b)}`),
  name.map((a) => `rm -rf ${quoted(a)}`),
  name.map((a) => `mkdir -p "$(dirname ${quoted(a)})"; printf 'made %s' "$RANDOM" > ${quoted(a)}`),
  name.map((a) => `printf more >> ${quoted(a)}`),
  fc.tuple(fc.constantFrom('755', '600', '444'), name).map(([m, a]) => `chmod ${m} ${quoted(a)}`),
  fc.tuple(name, fc.constantFrom('link', 'd/link')).map(([a, l]) => `ln -sf ${quoted(a)} ${l}`),
  fc.tuple(name, name).map(([a, b]) => `ln -f ${quoted(a)} ${quoted(b)}`),
  folder.map((it) => `mkdir -p ${it}`),
  folder.map((it) => `rm -rf ${it}`),
  fc.tuple(folder, folder).map(([a, b]) => `mv ${a} ${b}`),
  fc.tuple(fc.constantFrom('700', '755'), folder).map(([m, it]) => `chmod ${m} ${it}`),
  name.map(
    (a) => `rm -rf ${quoted(a)}; mkdir -p ${quoted(a)}/inner; touch ${quoted(a)}/inner/leaf`,
  ),
  fc.constant('for i in 1 2 3; do echo $i > many$i; done; exit 3'),
);

const gitCommand: fc.Arbitrary<string> = fc.constantFrom(
  'git add -A; git commit -qm more --allow-empty',
  'git checkout -q -b side || git checkout -q side',
  'git checkout -q -f main',
  'git reset -q --hard',
  'git clean -fdq',
  'git stash -q -u || true',
  'git rm -q -r --cached . ; git add -A',
  'git checkout -q HEAD~1 || true',
);

const step = (kind: 'git' | 'plain'): fc.Arbitrary<readonly Call[]> =>
  fc.oneof(
    { weight: 2, arbitrary: fileCalls },
    { weight: 4, arbitrary: command.map((it) => [bash(it)]) },
    ...(kind === 'git' ? [{ weight: 2, arbitrary: gitCommand.map((it) => [bash(it)]) }] : []),
  );

/** Calls by prompt, and the prompt to rewind to. */
const scenario = (kind: 'git' | 'plain') =>
  fc.record({
    prompts: fc.array(fc.array(step(kind), { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 4,
    }),
    to: fc.nat(),
  });

const fillWorkspace = (root: string, kind: 'git' | 'plain') => {
  for (const path of ['a', 'b', 'd/c', 'd/e/f', '.dot', 'script.sh']) {
    fs.mkdirSync(join(root, path, '..'), { recursive: true });
    fs.writeFileSync(join(root, path), `x of ${path}\ny\n`);
  }
  fs.chmodSync(join(root, 'script.sh'), 0o755);
  fs.symlinkSync('a', join(root, 'link'));
  fs.writeFileSync(join(root, 'n.ipynb'), JSON.stringify(NOTEBOOK));
  if (kind === 'plain') return;
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root });
  git('add', '-A');
  git('commit', '-qm', 'first');
  fs.writeFileSync(join(root, 'b'), 'dirty\n');
  fs.writeFileSync(join(root, 'loose'), 'untracked\n');
};

const RUNS = Number(process.env.SKEIN_TEST_REWINDS ?? 6);

needs.describe('git')('a rewind of random work by tools and Bash', () => {
  for (const kind of ['git', 'plain'] as const) {
    const where = kind === 'git' ? 'in a repository' : 'without git';
    test(`restores the same tree ${where}, and undo restores the tree before the rewind`, async () => {
      await fc.assert(
        fc.asyncProperty(scenario(kind), async ({ prompts, to }) => {
          const scene = rewindScene(kind);
          try {
            fillWorkspace(scene.root, kind);
            const trees: (readonly string[])[] = [];
            const calls = prompts.map((steps) => steps.flat());
            const session = await scene.work(calls, () => trees.push(treeOf(scene.root)));
            const end = treeOf(scene.root);
            const target = (to % prompts.length) + 1;
            const rewind = await scene.openRewind(session);
            await rewind.apply(rewind.plan({ to: target, files: true, conversation: true }), false);
            expect(treeOf(scene.root)).toEqual(trees[target - 1]);
            const again = await scene.openRewind(session);
            await again.apply(again.planUndo(), false);
            expect(treeOf(scene.root)).toEqual(end);
          } finally {
            scene.close();
          }
        }),
        { numRuns: RUNS },
      );
    }, 240_000);
  }
});
