/** Runs the built program on a real terminal, through tmux: sends keys and reads the screen. */
import { execFileSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { eventually } from '../eventually.js';
import type { Scene } from '../skein-process.js';

const PROGRAM = resolve(process.env.SKEIN_TEST_DIST ?? 'dist', 'skein.cjs');

const RECORD_EXIT = resolve('tests/fakes/terminal/record-exit.mjs');

export interface Screen {
  /** Sends text unchanged, without Enter. */
  type(text: string): void;
  /** Sends keys by their tmux names: `Enter`, `Escape`, `C-c`, `Up`. */
  press(...keys: readonly string[]): void;
  /** Types a line and sends it. */
  say(line: string): void;
  /** Pastes like the terminal, with bracketed paste if the program enabled it. */
  paste(text: string): void;
  /** All text since the start, without trailing blanks. */
  text(): string;
  /** The visible text. */
  visible(): string;
  resize(columns: number, rows: number): void;
  /** Colour sequences of the visible text. */
  colours(): readonly string[];
  modes(): { readonly isAlternate: boolean; readonly isCursorShown: boolean };
  /** Resets the terminal mode, as a shell does when it gets the terminal back. */
  sane(): void;
  /** Stops the terminal: no input and no output. The returned function resumes it. */
  stall(): () => void;
  pid(): number;
  /** Sends a signal to the program. */
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the text as soon as it contains `what`. */
  shows(what: string | RegExp): Promise<string>;
  /** Closes the terminal, which sends SIGHUP to the program. Idempotent. */
  close(): void;
  /** Resolves with the exit code of the program. */
  ended(): Promise<number>;
}

const ESC = '\u001b';
const COLOUR = new RegExp(`${ESC}\\[[\\d;]*m`, 'g');

let count = 0;

export interface ScreenOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Command for the same shell after the program has ended. */
  readonly after?: string;
  /**
   * Enables job control: if the program is stopped, the shell gets the terminal and runs `after`.
   */
  readonly jobs?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** File that gets the exit code and the signal of the program as JSON. */
  readonly exitFile?: string;
}

export const openScreen = (
  { home, skeinHome, workspace, tmp, simulator }: Scene,
  args: readonly string[],
  {
    env = {},
    after = 'true',
    jobs = false,
    columns = 120,
    rows = 40,
    exitFile,
  }: ScreenOptions = {},
): Screen => {
  count += 1;
  const server = `skein-${process.pid}-${count}`;
  const tmux = (...rest: readonly string[]): string =>
    execFileSync('tmux', ['-L', server, '-f', '/dev/null', ...rest], { encoding: 'utf8' });
  const variables = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    LANG: 'C.UTF-8',
    TMPDIR: tmp,
    HOME: home,
    SKEIN_HOME: skeinHome,
    TERM: 'screen',
    ANTHROPIC_API_KEY: 'sk-of-the-test',
    ANTHROPIC_BASE_URL: simulator.url,
    // A scene is temporary, so a process with root rights may damage it.
    IS_SANDBOX: '1',
    ...env,
  };
  const settings = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`);
  const recorder = exitFile === undefined ? [] : [process.execPath, RECORD_EXIT, exitFile];
  const command = [...recorder, process.execPath, PROGRAM, ...args].map(quoted).join(' ');
  const line = `${jobs ? 'set -m; ' : ''}env -i ${settings.join(' ')} ${command}; echo "it ended with $?"; ${after}; sleep 600`;
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), '-c', workspace, line);
  let isClosed = false;
  const close = () => {
    if (!isClosed) tmux('kill-server');
    isClosed = true;
  };
  onTestFinished(close);
  const text = () =>
    tmux('capture-pane', '-p', '-S', '-5000')
      .replaceAll(/[ \t]+$/gm, '')
      .trimEnd();
  const visible = () =>
    tmux('capture-pane', '-p')
      .replaceAll(/[ \t]+$/gm, '')
      .trimEnd();
  const shows: Screen['shows'] = async (what) => {
    try {
      return await eventually(`the screen shows ${String(what)}`, () => {
        const shown = text();
        const fits = typeof what === 'string' ? shown.includes(what) : what.test(shown);
        return fits ? shown : undefined;
      });
    } catch (error) {
      throw new Error(`${(error as Error).message} It shows:\n${text()}`, { cause: error });
    }
  };
  const pid = () => {
    const shell = tmux('display-message', '-p', '#{pane_pid}').trim();
    return Number(execFileSync('pgrep', ['-P', shell, 'node'], { encoding: 'utf8' }));
  };
  const type = (typed: string) => void tmux('send-keys', '-l', '--', typed);
  const press = (...keys: readonly string[]) => void tmux('send-keys', ...keys);
  return {
    type,
    press,
    text,
    visible,
    shows,
    colours: () => tmux('capture-pane', '-p', '-e').match(COLOUR) ?? [],
    modes() {
      const [alternate, cursor] = tmux('display-message', '-p', '#{alternate_on} #{cursor_flag}')
        .trim()
        .split(' ');
      return { isAlternate: alternate === '1', isCursorShown: cursor === '1' };
    },
    sane() {
      const tty = tmux('display-message', '-p', '#{pane_tty}').trim();
      execFileSync('stty', ['-F', tty, 'sane']);
    },
    stall() {
      const terminal = Number(tmux('display-message', '-p', '#{pid}'));
      process.kill(terminal, 'SIGSTOP');
      return () => void process.kill(terminal, 'SIGCONT');
    },
    pid,
    kill: (signal) => void process.kill(pid(), signal),
    resize: (width, height) =>
      void tmux('resize-window', '-x', String(width), '-y', String(height)),
    say(typed) {
      type(typed);
      press('Enter');
    },
    paste(pasted) {
      execFileSync('tmux', ['-L', server, 'load-buffer', '-'], { input: pasted });
      tmux('paste-buffer', '-p');
    },
    close,
    async ended() {
      const shown = await shows(/it ended with \d+/);
      return Number(/it ended with (\d+)/.exec(shown)?.[1]);
    },
  };
};

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
