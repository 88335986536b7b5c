import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { type Rules, type Scene, setScene, unmarked } from '../../fakes/skein-process.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { treeOf } from '../../host/worktrees/tree-hash.js';
import { needs } from '../../setup/needs.js';

const bash = (command: string) => ({ tool_use: [{ name: 'Bash', input: { command } }] });
const write = (file_path: string, content: string) => ({
  tool_use: [{ name: 'Write', input: { file_path, content } }],
});

/** For each prompt a reply with calls, and then an answer. */
const rulesFor = (steps: Readonly<Record<string, object>>): Rules => [
  ...Object.entries(steps).flatMap(([prompt, reply]) => [
    { match: { lastUser: `task ${prompt}` }, reply },
  ]),
  { reply: 'Done.' },
];

const BYPASS = ['--permission-mode', 'bypassPermissions'];

const runPrompt = async (scene: Scene, prompt: string, ...flags: readonly string[]) => {
  const ended = await scene.run([
    '-p',
    `task ${prompt}`,
    ...BYPASS,
    '--output-format',
    'json',
    ...flags,
  ]);
  expect(ended).toMatchObject({ code: 0, result: { result: 'Done.' } });
  return String(ended.result.session_id);
};

const STEPS = {
  one: write('a.txt', 'first\n'),
  two: bash('echo more >> a.txt; mkdir sub; mv old sub/new; ln -s a.txt link; chmod 600 keep'),
};

/** A session with two prompts: the first writes a file, the second changes many files with a command. */
const twoPrompts = async (steps: Readonly<Record<string, object>> = STEPS) => {
  const scene = await setScene(rulesFor(steps));
  const put = (name: string, text: string) => {
    fs.writeFileSync(join(scene.workspace, name), text);
  };
  put('keep', 'kept\n');
  put('old', 'old\n');
  const start = treeOf(scene.workspace);
  const session = await runPrompt(scene, 'one');
  const middle = treeOf(scene.workspace);
  await runPrompt(scene, 'two', '--resume', session);
  const end = treeOf(scene.workspace);
  const rewind = (...flags: readonly string[]) => scene.run(['rewind', session, ...flags]);
  return {
    ...scene,
    scene,
    put,
    session,
    start,
    middle,
    end,
    rewind,
    tree: () => treeOf(scene.workspace),
  };
};

describe('skein rewind', () => {
  test('rewinds files and conversation to before the newest prompt', async () => {
    const { scene, rewind, session, middle, tree, bodies } = await twoPrompts();
    const ended = await rewind('--yes');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toContain('Rewinding to before prompt 2 (task two)');
    expect(ended.stdout).toContain('- more');
    expect(tree()).toEqual(middle);
    const before = bodies().length;
    await runPrompt(scene, 'three', '--resume', session);
    const [first, , , , next] = bodies();
    expect(bodies()).toHaveLength(before + 1);
    const texts = JSON.stringify(next?.messages);
    expect(texts).not.toContain('task two');
    const { messages } = JSON.parse(unmarked(next));
    expect(messages.slice(0, 1)).toEqual(JSON.parse(unmarked(first)).messages);
  });

  test('rewinds to the first prompt, and --undo reverts the rewind, repeatedly', async () => {
    const { rewind, start, end, tree } = await twoPrompts();
    await rewind('--to', '1', '--yes');
    expect(tree()).toEqual(start);
    expect(await rewind('--undo', '--yes')).toMatchObject({ code: 0 });
    expect(tree()).toEqual(end);
    await rewind('--undo', '--yes');
    expect(tree()).toEqual(start);
    await rewind('--undo', '--yes');
    expect(tree()).toEqual(end);
  });

  test('changes no file and no journal with --dry-run', async () => {
    const { rewind, end, tree, journal } = await twoPrompts();
    const ended = await rewind('--to', '1', '--dry-run');
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain('remove a.txt');
    expect(ended.stdout).toContain('bring back old');
    expect(ended.stdout).toContain('Not undone: ignored files, and other effects');
    expect(tree()).toEqual(end);
    expect((await journal()).some(({ type }) => type === 'session.rewound')).toBe(false);
  });

  test('needs --yes without a terminal', async () => {
    const { rewind, end, tree } = await twoPrompts();
    expect(await rewind()).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(tree()).toEqual(end);
  });

  test('lists the prompts with the number of files changed since', async () => {
    const { rewind } = await twoPrompts();
    const { stdout } = await rewind('--list');
    expect(stdout).toMatch(
      /^1 {2}just now {2}6 files changed since {2}task one\n2 {2}just now {2}6 files/,
    );
    const json = await rewind('--list', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ points: [{ number: 1 }, { number: 2 }] });
  });

  test('rewinds only the files with --files, and the next message tells the agent once', async () => {
    const { scene, rewind, session, middle, tree, bodies } = await twoPrompts();
    await rewind('--files', '--yes');
    expect(tree()).toEqual(middle);
    await runPrompt(scene, 'three', '--resume', session);
    const messages = JSON.stringify(bodies().at(-1)?.messages);
    expect(messages).toContain('task two');
    expect(messages).toContain('restored these files');
    await runPrompt(scene, 'four', '--resume', session);
    expect(JSON.stringify(bodies().at(-1)?.messages).split('restored these files')).toHaveLength(2);
  });

  test('rewinds only the conversation with --conversation', async () => {
    const { scene, rewind, session, end, tree, bodies } = await twoPrompts();
    await rewind('--conversation', '--yes');
    expect(tree()).toEqual(end);
    await runPrompt(scene, 'three', '--resume', session);
    expect(JSON.stringify(bodies().at(-1)?.messages)).not.toContain('task two');
  });

  test('refuses if another process changed a file since, and names the file', async () => {
    const { rewind, put, tree } = await twoPrompts();
    put('a.txt', 'mine\n');
    const mine = tree();
    const ended = await rewind('--yes');
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toContain('a.txt: another program has changed it since');
    expect(tree()).toEqual(mine);
  });

  test('restores such a file with --force, and --undo brings the other change back', async () => {
    const { rewind, put, middle, tree } = await twoPrompts();
    put('a.txt', 'mine\n');
    const mine = tree();
    expect(await rewind('--force')).toMatchObject({ code: 0 });
    expect(tree()).toEqual(middle);
    await rewind('--undo', '--yes');
    expect(tree()).toEqual(mine);
  });

  test('refuses while another process owns the session', async () => {
    const { scene, rewind, session } = await twoPrompts({
      ...STEPS,
      three: bash('touch running; sleep 60'),
    });
    const running = scene.start(['-p', 'task three', ...BYPASS, '--resume', session]);
    await eventually('the command runs', () => fs.existsSync(join(scene.workspace, 'running')));
    expect(await rewind('--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/pid \d+/),
    });
    running.kill('SIGKILL');
    await running.ended;
  });

  test('restores files that a command changed before its process was killed', async () => {
    const steps = { ...STEPS, three: bash('rm a.txt; echo x > torn; sleep 60') };
    const { scene, rewind, session, end, workspace, tree } = await twoPrompts(steps);
    const running = scene.start(['-p', 'task three', ...BYPASS, '--resume', session]);
    await eventually('the command has begun', () => fs.existsSync(join(workspace, 'torn')));
    running.kill('SIGKILL');
    await running.ended;
    expect(await rewind('--to', '3', '--yes')).toMatchObject({ code: 0 });
    expect(tree()).toEqual(end);
  });

  test('never restores a damaged checkpoint', async () => {
    const { rewind, skeinHome, end, tree } = await twoPrompts();
    const blobs = join(skeinHome, 'checkpoints');
    for (const name of fs.readdirSync(blobs, { recursive: true }) as string[]) {
      const path = join(blobs, name);
      if (fs.statSync(path).isFile() && fs.readFileSync(path, 'utf8') === 'old\n') {
        fs.writeFileSync(path, 'evil');
      }
    }
    const ended = await rewind('--to', '1', '--yes');
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toContain('old: cannot be restored: its checkpoint is damaged');
    expect(tree()).toEqual(end);
  });

  test('names file and line of a damaged journal, whose changes it cannot take back', async () => {
    const { rewind, skeinHome, session, end, tree } = await twoPrompts();
    const folder = join(skeinHome, 'sessions', session, 'agents');
    const journal = join(folder, fs.readdirSync(folder)[0] ?? '');
    const lines = fs.readFileSync(journal, 'utf8').split('\n');
    const at = lines.findLastIndex((line) => line.includes('"files.changed"'));
    fs.writeFileSync(journal, lines.with(at, 'garbage{').join('\n'));
    const ended = await rewind('--dry-run');
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain(`${journal}:${at + 1}`);
    expect(ended.stderr).toContain('A rewind cannot take back changes whose records are missing.');
    expect(ended.stdout).not.toContain('bring back old');
    expect(tree()).toEqual(end);
  });

  test('stores checkpoints that only the owner can read', async () => {
    const { skeinHome } = await twoPrompts();
    const blobs = join(skeinHome, 'checkpoints');
    const modes = (fs.readdirSync(blobs, { recursive: true }) as string[]).map((name) => {
      const found = fs.statSync(join(blobs, name));
      return `${found.isDirectory() ? 'folder' : 'file'} ${(found.mode & 0o777).toString(8)}`;
    });
    expect(new Set(modes)).toEqual(new Set(['folder 700', 'file 600']));
  });

  test('reports invalid arguments', async () => {
    const { rewind } = await twoPrompts();
    for (const [flags, message] of [
      [['--to', '9', '--yes'], 'There is no prompt 9'],
      [['--to', '0'], 'count from 1'],
      [['--files', '--both'], 'one of'],
      [['--undo', '--yes'], 'was never rewound'],
      [['--undo', '--to', '1'], 'leave out --to'],
    ] as const) {
      const { code, stderr } = await rewind(...flags);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    }
  });
});

needs.describe('tmux')('/rewind on a terminal', () => {
  test('lists the prompts, shows the changes, asks, rewinds, and continues the session', async () => {
    const scene = await setScene(rulesFor(STEPS));
    fs.writeFileSync(join(scene.workspace, 'keep'), 'kept\n');
    fs.writeFileSync(join(scene.workspace, 'old'), 'old\n');
    const screen = openScreen(scene, ['--plain', ...BYPASS]);
    await screen.shows('Type what to do');
    screen.say('task one');
    await screen.shows(/Done\.\n\n>$/);
    const middle = treeOf(scene.workspace);
    screen.say('task two');
    await screen.shows(/Done\.[\s\S]*Done\.\n\n>$/);
    expect(treeOf(scene.workspace)).not.toEqual(middle);
    screen.say('/rewind');
    await screen.shows('Rewind to before which prompt?');
    screen.say('2');
    await screen.shows(/- more[\s\S]*Rewind\? \[y\/N\]/);
    screen.say('y');
    await screen.shows(
      /Done: 6 files restored, 1 prompt removed\.[\s\S]*The last exchange:[\s\S]*>$/,
    );
    expect(treeOf(scene.workspace)).toEqual(middle);
    screen.say('task three');
    await screen.shows(/task three[\s\S]*Done\.\n\n>$/);
    const sent = JSON.stringify(scene.bodies().at(-1)?.messages);
    expect(sent).toContain('task one');
    expect(sent).not.toContain('task two');
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);
  });
});
