/** Kills rewinds at every change of a file and of the journal, finishes them and takes them back. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openScene } from '../../fakes/skein-process.js';
import { treeOf } from '../../host/worktrees/tree-hash.js';
import { killPoints, someOf, whenAt } from '../killed-run.js';

/** Changes contents, modes, links and kinds, and leaves files in new folders. */
const WORK = [
  'echo more >> a; rm -r d; echo new > n; mkdir -p e/f; echo x > e/f/g; chmod 750 e; ln -s a link',
  'rm b; mkdir b; echo in > b/inner; chmod 600 keep; rm -r dd; echo file > dd; ln -sf n old; rm -r deep',
].join('; ');

/** Changes only contents, so that a rewind writes a temporary file before it has changed anything. */
const EDITS = 'echo more >> a; echo more >> b; echo more >> d/x';

const START: Readonly<Record<string, string>> = {
  a: 'one\n',
  b: 'two\n',
  keep: 'kept\n',
  'd/x': 'x\n',
  'dd/z': 'z\n',
  'deep/er/est': 'below\n',
};

const openRewound = async (work = WORK) => {
  const scene = await openScene([
    {
      match: { lastUser: 'Do it' },
      reply: { tool_use: [{ name: 'Bash', input: { command: work } }] },
    },
    { reply: 'Done.' },
  ]);
  onTestFinished(scene.close);
  const { workspace, skeinHome, root } = scene;
  for (const [name, text] of Object.entries(START)) {
    fs.mkdirSync(join(workspace, name, '..'), { recursive: true });
    fs.writeFileSync(join(workspace, name), text);
  }
  fs.symlinkSync('a', join(workspace, 'old'));
  fs.chmodSync(join(workspace, 'd'), 0o700);
  const start = treeOf(workspace);
  const mode = ['--permission-mode', 'bypassPermissions'];
  const { code } = await scene.run(['-p', 'Do it', '--session-id', 's', ...mode]);
  expect(code).toBe(0);
  const end = treeOf(workspace);
  const copy = join(root, 'copy');
  execFileSync('cp', ['-a', `${workspace}/.`, copy]);
  execFileSync('cp', ['-a', `${skeinHome}/.`, `${copy}-home`]);
  const count = join(root, 'count');
  const killer = {
    NODE_OPTIONS: `--import ${resolve('tests/laws/kill-at-change.mjs')}`,
    KILL_BELOW: workspace,
  };
  const rewind = async (flags: readonly string[], env = {}) => {
    const ended = await scene.run(['rewind', 's', '--yes', ...flags], { env });
    return ended.signal ?? `${ended.code} ${ended.stderr}`;
  };
  return {
    start,
    end,
    rewind,
    tree: () => treeOf(workspace),
    /** The type of the last complete record, with the record that a rewind undoes. */
    lastRecord() {
      const folder = join(skeinHome, 'sessions', 's', 'agents');
      const [name = ''] = fs.readdirSync(folder).filter((file) => file.endsWith('.jsonl'));
      const lines = fs.readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1);
      const { type, undoes } = JSON.parse(lines.at(-1) ?? '') as { type: string; undoes?: number };
      return undoes === undefined ? type : `${type} undoes`;
    },
    killed: (at: number, flags: readonly string[]) =>
      rewind(flags, { ...killer, KILL_AT: String(at), KILL_WHEN: whenAt(at) }),
    async counted(flags: readonly string[]) {
      expect(await rewind(flags, { ...killer, KILL_COUNT_FILE: count })).toBe('0 ');
      return Number(fs.readFileSync(count, 'utf8'));
    },
    /** Puts the workspace and the session back to the end of the run. */
    reset() {
      for (const [from, to] of [
        [copy, workspace],
        [`${copy}-home`, skeinHome],
      ] as const) {
        fs.rmSync(to, { recursive: true, force: true });
        execFileSync('cp', ['-a', from, to]);
      }
    },
  };
};

const DONE = '0 ';

/** `npm run test:soak` kills at every change, `npm test` at every 18th. */
const pointsUpTo = (last: number, turn = 0): readonly number[] =>
  someOf(killPoints(1, last, turn), 6);

test('a rewind and its undo that are killed at any change are finished by the same command and undone', async () => {
  const { start, end, rewind, killed, counted, reset, tree, lastRecord } = await openRewound();
  const isRewound = () => lastRecord() === 'session.rewound';
  const writes = await counted([]);
  const undoWrites = await counted(['--undo']);
  expect(writes).toBeGreaterThan(20);
  const faults: unknown[] = [];
  const check = (at: number, step: string, found: unknown, wanted: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(wanted)) faults.push({ at, step, found, wanted });
  };
  for (const at of pointsUpTo(writes)) {
    reset();
    check(at, 'kill', await killed(at, []), 'SIGKILL');
    if (at % 2 === 0 && !isRewound()) await killed(Math.ceil(at / 2), []);
    if (!isRewound()) check(at, 'finish', await rewind([]), DONE);
    check(at, 'rewound tree', tree(), start);
    const undoAt = Math.min(at, undoWrites);
    const killedUndo = await killed(undoAt, ['--undo']);
    check(at, 'kill of the undo', killedUndo, 'SIGKILL');
    if (lastRecord() !== 'session.rewound undoes')
      check(at, 'undo', await rewind(['--undo']), DONE);
    check(at, 'undone tree', tree(), end);
  }
  expect(faults).toEqual([]);
}, 240_000);

test.each([
  ['changed kinds', WORK],
  ['edits', EDITS],
])(
  'the undo of a rewind that was killed and not finished restores the tree before the rewind: %s',
  async (_, work) => {
    const { end, rewind, killed, counted, reset, tree, lastRecord } = await openRewound(work);
    const writes = await counted([]);
    const faults: unknown[] = [];
    for (const at of pointsUpTo(writes, 1)) {
      reset();
      await killed(at, []);
      if (lastRecord() === 'session.rewound') continue;
      const undone = await rewind(['--undo']);
      const isNothingToUndo = at <= 2 && undone.startsWith('2 ');
      const isSame = JSON.stringify(tree()) === JSON.stringify(end);
      if (!isSame || (undone !== DONE && !isNothingToUndo))
        faults.push({ at, undone, tree: tree() });
    }
    expect(faults).toEqual([]);
  },
  240_000,
);
