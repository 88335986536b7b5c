/** Kills runs with commands at every write of a checkpoint and of the journal, resumes and rewinds them. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openScene } from '../../fakes/skein-process.js';
import { treeOf } from '../../host/worktrees/tree-hash.js';
import { killPoints, someOf, whenAt } from '../killed-run.js';

const bash = (command: string) => ({ name: 'Bash', input: { command } });

/** Commands after each other in one message and in several, with an edit in between. */
const RULES = [
  {
    match: { turn: 0 },
    reply: { tool_use: [bash('echo more >> f1; rm f2; mkdir n; echo x > n/a')] },
  },
  {
    match: { turn: 1 },
    reply: {
      tool_use: [
        bash('echo again >> f1; mv f3 g3; rm -r d'),
        { name: 'Read', input: { file_path: 'f5' } },
        bash('chmod 700 f4; ln -s f1 link; mkdir d; echo new > d/f2'),
      ],
    },
  },
  {
    match: { turn: 2 },
    reply: {
      tool_use: [{ name: 'Edit', input: { file_path: 'f5', old_string: '5', new_string: 'five' } }],
    },
  },
  { match: { turn: 3 }, reply: { tool_use: [bash('cat f5 > f6; rm f5')] } },
  { reply: 'Done.' },
];

/** So many files that their contents go into a pack. */
const FILES = 90;

const FLAGS = ['--permission-mode', 'bypassPermissions'];

const openKilled = async (kind: 'git' | 'plain') => {
  const scene = await openScene(RULES);
  onTestFinished(scene.close);
  const { workspace, skeinHome, root } = scene;
  fs.mkdirSync(join(workspace, 'd'));
  for (let at = 0; at < FILES; at += 1) {
    fs.writeFileSync(join(workspace, at % 2 === 0 ? `d/f${at}` : `f${at}`), `content ${at}\n`);
  }
  for (const name of ['f2', 'f4', 'f6'])
    fs.copyFileSync(join(workspace, `d/${name}`), join(workspace, name));
  if (kind === 'git') {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace });
    git('init', '-q');
    git('add', '-A');
    git('-c', 'user.name=a', '-c', 'user.email=b@c', 'commit', '-qm', 'first');
    fs.writeFileSync(join(workspace, 'f1'), 'not in git\n');
  }
  const start = treeOf(workspace);
  const copy = join(root, 'copy');
  execFileSync('cp', ['-a', `${workspace}/.`, copy]);
  const count = join(root, 'count');
  const killer = {
    NODE_OPTIONS: `--import ${resolve('tests/laws/kill-at-change.mjs')}`,
    KILL_BELOW: join(skeinHome, 'checkpoints'),
  };
  const run = (args: readonly string[], env = {}) => scene.run([...args, ...FLAGS], { env });
  return {
    start,
    tree: () => treeOf(workspace),
    async counted() {
      const ended = await run(['-p', 'Do it', '--session-id', 's'], {
        ...killer,
        KILL_COUNT_FILE: count,
      });
      expect(ended.code).toBe(0);
      return Number(fs.readFileSync(count, 'utf8'));
    },
    killed: (at: number) =>
      run(['-p', 'Do it', '--session-id', 's'], {
        ...killer,
        KILL_AT: String(at),
        KILL_WHEN: whenAt(at),
      }),
    resume: () => run(['-p', 'Go on', '--resume', 's']),
    rewind: () => scene.run(['rewind', 's', '--to', '1', '--yes']),
    reset() {
      for (const path of [workspace, skeinHome]) fs.rmSync(path, { recursive: true, force: true });
      execFileSync('cp', ['-a', copy, workspace]);
      fs.mkdirSync(skeinHome, { mode: 0o700 });
    },
  };
};

/** `npm run test:soak` kills at every write, `npm test` at every 24th. */
const pointsUpTo = (last: number, turn: number): readonly number[] =>
  someOf(killPoints(1, last, turn), 8);

test.each([
  ['in a repository', 'git', 0],
  ['without git', 'plain', 1],
] as const)(
  'a run with commands that is killed at any write is rewound to its start, %s',
  async (_, kind, turn) => {
    const { start, counted, killed, resume, rewind, reset, tree } = await openKilled(kind);
    const writes = await counted();
    expect(writes).toBeGreaterThan(60);
    const faults: unknown[] = [];
    for (const at of pointsUpTo(writes, turn)) {
      reset();
      const { signal } = await killed(at);
      // Half of the runs are continued before they are rewound.
      const resumed = at % 2 === 0 ? await resume() : undefined;
      const rewound = await rewind();
      const isRestored = JSON.stringify(tree()) === JSON.stringify(start);
      if (signal === 'SIGKILL' && isRestored) continue;
      faults.push({
        at,
        signal,
        resumed: resumed?.stderr,
        rewound: rewound.stderr,
        tree: tree(),
      });
    }
    expect(faults).toEqual([]);
  },
  600_000,
);
