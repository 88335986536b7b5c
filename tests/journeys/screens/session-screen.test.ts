/** The session screen on a real terminal: keys are sent and the screen is read through tmux. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, type Rules, setScene } from '../../fakes/skein-process.js';
import { expectGolden } from '../../fakes/terminal/golden.js';
import { openScreen, type ScreenOptions } from '../../fakes/terminal/tmux-screen.js';
import { isAlive } from '../../host/process/processes.js';
import { needs } from '../../setup/needs.js';

const ENDLESS = { text: 'word '.repeat(2_000), chunkBytes: 5, chunkDelayMs: 40 };
/** More output than the buffer of a terminal that does not read can take. */
const FLOOD = { text: 'flood '.repeat(200_000), chunkBytes: 4_000, chunkDelayMs: 10 };
const TASK = { description: 'look around', prompt: 'Look around.', subagent_type: 'implementer' };

const RULES: Rules = [
  { match: { firstUser: 'Look around.', toolResult: '/./' }, reply: 'There is a file.' },
  { match: { firstUser: 'Look around.' }, reply: calls('Bash', { command: 'touch seen' }) },
  { match: { toolResult: 'There is a file.' }, reply: 'The agent has seen it.' },
  { match: { toolResult: 'denied' }, reply: 'Then not.' },
  { match: { toolResult: '/./' }, reply: 'It is made.' },
  { match: { lastUser: 'delegate' }, reply: calls('Task', TASK) },
  { match: { lastUser: 'endless' }, reply: ENDLESS },
  { match: { lastUser: 'flood' }, reply: FLOOD },
  {
    match: { lastUser: 'make' },
    reply: calls('Write', { file_path: 'made.txt', content: 'one\ntwo\n' }),
  },
  { reply: 'You said {{lastUser}}!' },
];

interface SessionOptions extends ScreenOptions {
  readonly args?: readonly string[];
}

const openSession = async ({ args = [], ...options }: SessionOptions = {}, rules = RULES) => {
  const scene = await setScene(rules);
  return { scene, screen: openScreen(scene, args, { columns: 100, rows: 30, ...options }) };
};

/** The prompt is empty and no run is active. */
const READY = /\n\n─+\n>\n\S+ · mode/;
const answered = (text: string) => new RegExp(`${text}\\n\\n─+\\n>\\n\\S+ · mode`);
/** Longer than the time in which a new question ignores keys. */
const KEY_DELAY_MS = 500;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

needs.describe('tmux')('the session screen', () => {
  test('runs an agent, accepts an answer from a second terminal, is interrupted, and is resumed', async () => {
    const { scene, screen } = await openSession();
    await screen.shows(READY);
    await expectGolden(screen.visible(), 'session-start');
    screen.say('hello');
    await screen.shows(answered('You said hello!'));

    screen.say('delegate');
    await screen.shows('asks to use Bash');
    await screen.shows(/started: look around[\s\S]*answers it/);
    await expectGolden(screen.visible(), 'session-question');
    const [question] = JSON.parse((await scene.run(['inbox', '--json'])).stdout).questions;
    expect((await scene.run(['approve', question.id])).code).toBe(0);
    await screen.shows(answered('The agent has seen it.'));
    expect(screen.visible()).not.toContain('asks to use Bash');
    expect(existsSync(join(scene.workspace, 'seen'))).toBe(true);

    screen.say('endless');
    await screen.shows('word word word');
    screen.press('Escape');
    await screen.shows(/\(Interrupted\..*\)\n\n─/);
    await expectGolden(screen.visible(), 'session-interrupted');
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);
    const id = /skein --resume (s_\w+)/.exec(screen.text())?.[1] ?? '';

    const resumed = openScreen(scene, ['--resume', id], { columns: 100, rows: 30 });
    await resumed.shows('The last exchange:');
    resumed.say('make');
    await resumed.shows('asks to use Write');
    await pause(KEY_DELAY_MS);
    resumed.press('Tab');
    await pause(KEY_DELAY_MS);
    resumed.press('Enter');
    await resumed.shows(answered('It is made.'));
    await expectGolden(resumed.visible(), 'session-resumed');
    resumed.press('C-o');
    await resumed.shows('+ two');
    await expectGolden(resumed.visible(), 'session-call');
    resumed.press('q');
    await resumed.shows(answered('It is made.'));
  });

  test('keeps the typed prompt while a question waits and is answered', async () => {
    const { screen, scene } = await openSession();
    await screen.shows(READY);
    screen.say('make');
    screen.type('sod');
    await screen.shows('answers it');
    screen.type(' it all');
    await screen.shows(/^> sod it all$/m);
    screen.press('C-y');
    await pause(KEY_DELAY_MS);
    screen.press('d', 'Enter');
    await screen.shows('Why not?');
    screen.say('later');
    await screen.shows('✗ Write made.txt denied: The user denied this call. Reason: later');
    await screen.shows(/^> sod it all$/m);
    expect(existsSync(join(scene.workspace, 'made.txt'))).toBe(false);
  });

  test('keeps the typed prompt when the run is interrupted at a question', async () => {
    const { screen } = await openSession();
    await screen.shows(READY);
    screen.say('make');
    screen.type('half a');
    await screen.shows('answers it');
    screen.press('C-y');
    await screen.shows('Enter confirms');
    screen.press('C-c');
    await screen.shows('(Interrupted.');
    screen.type(' prompt');
    await screen.shows(/^> half a prompt$/m);
    expect(screen.text()).not.toContain('answered elsewhere');
  });

  test('does not open the call view over a question', async () => {
    const { screen, scene } = await openSession();
    await screen.shows(READY);
    screen.say('make');
    await screen.shows('asks to use Write');
    await pause(KEY_DELAY_MS);
    screen.press('Tab');
    await pause(KEY_DELAY_MS);
    screen.press('Enter');
    await screen.shows(answered('It is made.'));
    screen.type('/rewind 1');
    screen.press('Enter', 'C-o');
    await screen.shows(/Rewind\? \[y\/N\]/);
    expect(screen.modes().isAlternate).toBe(false);
    await pause(KEY_DELAY_MS);
    screen.say('y');
    await expect.poll(() => existsSync(join(scene.workspace, 'made.txt'))).toBe(false);
  });

  test('redraws an open question when the terminal gets lower and higher', async () => {
    const { screen } = await openSession({ columns: 60, rows: 30 });
    await screen.shows(READY);
    screen.say('make');
    await screen.shows('answers it');
    await pause(KEY_DELAY_MS);
    screen.press('Tab');
    screen.resize(60, 10);
    await screen.shows(/❯ once {3}session {3}project {3}deny/);
    screen.resize(60, 30);
    await screen.shows(/^❯ o {2}once: this call[\s\S]*─\nmode default[^\n]*$/m);
  });

  test('edits several lines, takes a paste as a single prompt, and recalls earlier prompts', async () => {
    const { screen, scene } = await openSession();
    await screen.shows(READY);
    screen.type('one');
    screen.press('M-Enter');
    screen.type('two');
    await screen.shows(/^> one\n {2}two$/m);
    screen.press('Up', 'End');
    screen.type('!');
    await screen.shows(/^> one!\n {2}two$/m);
    screen.press('Enter');
    await screen.shows(answered('two!'));
    screen.paste('three\nfour\n');
    await screen.shows(/^> three\n {2}four$/m);
    screen.press('Enter');
    await screen.shows('four!');
    screen.press('Up', 'Up', 'Up', 'Up', 'Up');
    await screen.shows(/─\n> one!\n {2}two\n/);
    const prompts = scene.bodies().map(({ messages }) => JSON.stringify(messages.at(-1)));
    expect(prompts[0]).toContain('one!\\ntwo');
    expect(prompts[1]).toContain('three\\nfour');
  });

  test('shows the todo list of an agent', async () => {
    const todos = [
      { content: 'Look', status: 'completed' },
      { content: 'Mend it', activeForm: 'Mending it', status: 'in_progress' },
    ];
    const { screen } = await openSession({}, [
      { match: { toolResult: '/./' }, reply: ENDLESS },
      { reply: calls('TodoWrite', { todos }) },
    ]);
    await screen.shows(READY);
    screen.say('go');
    await screen.shows(/Things to do: 1 of 2 done\n {2}● Mending it\n/);
  });

  test('completes commands and files, and changes the mode', async () => {
    const { screen, scene } = await openSession();
    writeFileSync(join(scene.workspace, 'notes.md'), '');
    await screen.shows(READY);
    screen.type('/con');
    await screen.shows('what fills the context window');
    screen.press('C-u');
    screen.type('see @no');
    await screen.shows('❯ @notes.md');
    screen.press('Tab');
    screen.press('Enter');
    await screen.shows('You said see @notes.md!');
    screen.press('BTab');
    await screen.shows('mode acceptEdits');
    screen.press('BTab');
    await screen.shows('mode plan');
  });

  test('sends an image that a prompt names to the model', async () => {
    const { screen, scene } = await openSession();
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    writeFileSync(join(scene.workspace, 'shot.png'), Buffer.from(png, 'base64'));
    await screen.shows(READY);
    screen.type('what is shot.png');
    await screen.shows(/ {2}with \S*shot\.png/);
    screen.press('Enter');
    await screen.shows('You said');
    const [block] = scene.bodies().at(-1)?.messages[0].content.slice(-1) ?? [];
    expect(block).toMatchObject({ type: 'image', source: { media_type: 'image/png' } });
  });

  test('redraws correctly at any width after a resize', async () => {
    const { screen } = await openSession({ columns: 160 });
    await screen.shows(READY);
    screen.say('漢字 👩‍👩‍👧 hello');
    await screen.shows('You said');
    for (const columns of [60, 250, 80]) {
      screen.resize(columns, 30);
      await screen.shows(new RegExp(`^─{${columns}}\\n>\\n\\S+ · mode`, 'm'));
      expect(screen.visible().match(/^─+$/gm)).toHaveLength(1);
      expect(screen.text().match(/You said 漢字/g)).toHaveLength(1);
    }
  });

  test('writes no colours with NO_COLOR', async () => {
    const { screen } = await openSession({ env: { NO_COLOR: '1' } });
    await screen.shows(READY);
    screen.say('make');
    await screen.shows('asks to use Write');
    expect(screen.colours()).toEqual([]);
  });

  test('restores the terminal after SIGTERM', async () => {
    const after = 'stty -a | grep -q " icanon" && echo "lines again"';
    const { screen } = await openSession({ after });
    await screen.shows(READY);
    screen.say('endless');
    await screen.shows('word word');
    screen.press('C-o');
    await screen.shows('No call has ended yet');
    screen.kill('SIGTERM');
    expect(await screen.ended()).toBe(130);
    await screen.shows('lines again');
    expect(screen.modes()).toEqual({ isAlternate: false, isCursorShown: true });
  });

  test('restores the terminal after a crash and prints the error on it', async () => {
    const scene = await setScene(RULES);
    const crash = join(scene.root, 'crash.mjs');
    writeFileSync(
      crash,
      `process.argv[1].endsWith('skein.cjs') && process.once('SIGUSR2', () => { throw new Error('as told') });`,
    );
    const screen = openScreen(scene, [], { env: { NODE_OPTIONS: `--import=${crash}` } });
    await screen.shows(READY);
    screen.press('C-o');
    await screen.shows('No call has ended yet');
    screen.kill('SIGUSR2');
    expect(await screen.ended()).toBe(1);
    expect(screen.text()).toContain(
      'skein: as told\nThis is a defect of Skein; --verbose shows where.',
    );
    expect(screen.modes()).toEqual({ isAlternate: false, isCursorShown: true });
  });

  test('asks for trust before the first prompt', async () => {
    const scene = await setScene(RULES);
    mkdirSync(join(scene.workspace, '.claude'));
    const settings = { permissions: { allow: ['Bash(ls)'] } };
    writeFileSync(join(scene.workspace, '.claude/settings.json'), JSON.stringify(settings));
    const screen = openScreen(scene, []);
    await screen.shows('Trust this workspace? y yes, n no:');
    await pause(KEY_DELAY_MS);
    screen.say('y');
    await screen.shows('The workspace is trusted until its settings change.');
    await screen.shows(READY);
  });

  test('suspends on Ctrl-Z and keeps the typed prompt', async () => {
    const { screen } = await openSession({ jobs: true, after: 'sleep 0.5; fg' });
    await screen.shows(READY);
    screen.type('half a pro');
    screen.press('C-z');
    await screen.shows(/it ended with 148\n(?:.*\n)*> half a pro$/m);
    screen.type('mpt');
    await screen.shows(/^> half a prompt$/m);
    expect(screen.text()).not.toMatch(/half a pro$[\s\S]*it ended/m);
  });

  test('exits on SIGTERM while its terminal does not read, and the session is stored', async () => {
    const { scene, screen } = await openSession();
    await screen.shows(READY);
    const pid = screen.pid();
    screen.say('flood');
    await screen.shows('flood flood');
    const readAgain = screen.stall();
    try {
      await pause(1_500);
      process.kill(pid, 'SIGTERM');
      await eventually('the process has ended', () => !isAlive(pid));
    } finally {
      readAgain();
    }
    const { sessions } = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
    expect(sessions).toMatchObject([{ title: 'flood' }]);
  });

  test('reads all keys again after SIGSTOP and SIGCONT', async () => {
    const { screen } = await openSession();
    await screen.shows(READY);
    screen.type('half');
    await screen.shows(/^> half$/m);
    screen.kill('SIGSTOP');
    screen.sane();
    screen.kill('SIGCONT');
    await pause(300);
    screen.type(' a prompt');
    await screen.shows(/^> half a prompt$/m);
  });

  test('suspends from the call view and returns to it', async () => {
    const { screen } = await openSession({ jobs: true, after: 'sleep 0.5; fg' });
    await screen.shows(READY);
    screen.press('C-o');
    await screen.shows('No call has ended yet');
    screen.press('C-z');
    await screen.shows('it ended with 148');
    await screen.shows('No call has ended yet');
    screen.press('q');
    // The shell wrote to the normal screen, not to the alternate screen.
    await screen.shows(/it ended with 148[\s\S]*\n─+\n>\n\S+ · mode/);
  });
});
