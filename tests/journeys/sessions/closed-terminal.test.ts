/** A terminal that is closed ends the program cleanly, and its session can be resumed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, type Line, pidIn, setScene } from '../../fakes/skein-process.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { isAlive } from '../../host/process/processes.js';

const FREE = ['--permission-mode', 'bypassPermissions', '--session-id', 'closed'];

/** A program on a terminal. `close` closes the terminal and resolves with the end of the program. */
const openTerminal = async (args: readonly string[]) => {
  const scene = await setScene([
    { match: { lastUser: 'again' }, reply: 'Resumed.' },
    { match: { lastUser: 'work' }, reply: calls('Bash', { command: 'echo $$ > pid; sleep 600' }) },
    { reply: 'Hello to you.' },
  ]);
  const exitFile = join(scene.root, 'exit.json');
  const screen = openScreen(scene, args, { exitFile });
  const close = async (): Promise<Line> => {
    screen.close();
    await eventually('the program ends', () => existsSync(exitFile));
    return eventually('the end is recorded', () => {
      const text = readFileSync(exitFile, 'utf8');
      return text === '' ? undefined : (JSON.parse(text) as Line);
    });
  };
  return { ...scene, screen, close };
};

/** Resumes the session and checks that nothing of it is damaged. */
const expectResumable = async ({ run }: Pick<Awaited<ReturnType<typeof openTerminal>>, 'run'>) => {
  expect(await run(['-p', 'again', '--resume', 'closed'])).toMatchObject({
    code: 0,
    stdout: 'Resumed.\n',
    stderr: '',
  });
};

test.each([
  ['a session on its screen', FREE],
  ['a session in lines', ['--plain', ...FREE]],
])('%s ends while it is idle', async (_, args) => {
  const terminal = await openTerminal(args);
  await terminal.screen.shows('>');
  terminal.screen.say('hello');
  await terminal.screen.shows('Hello to you.');
  expect(await terminal.close()).toEqual({ code: expect.any(Number), signal: null });
  await expectResumable(terminal);
});

test.each([
  ['a session on its screen', FREE],
  ['a session in lines', ['--plain', ...FREE]],
  ['a print run', ['-p', 'work', ...FREE]],
])('%s ends while a command runs, and ends the command', async (_, args) => {
  const terminal = await openTerminal(args);
  if (!args.includes('-p')) {
    await terminal.screen.shows('>');
    terminal.screen.say('work');
  }
  const pid = await eventually('the command runs', () => pidIn(terminal.workspace));
  expect(await terminal.close()).toEqual({ code: 130, signal: null });
  await eventually('the command has ended', () => !isAlive(pid));
  await expectResumable(terminal);
});

test.each([['top'], ['sim']])('skein %s ends', async (...args) => {
  const terminal = await openTerminal(args);
  await terminal.screen.shows(/\w/);
  const { signal } = await terminal.close();
  // SIGHUP ends a program that does not listen for signals yet.
  expect([null, 'SIGHUP']).toContain(signal);
});
