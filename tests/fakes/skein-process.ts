/**
 * Runs the built program as a separate process, in an empty home and with a simulator as its model.
 * The process sees only the environment that is set here.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/protocol/clock.js';
import type { JournalRecord } from '../../src/protocol/session/journal-record.js';
import type { Script, ScriptInput } from '../../src/simulator/script.js';
import { type Simulator, startSimulator } from '../../src/simulator/start-simulator.js';

/** Path of the build. SKEIN_TEST_DIST names another build. */
export const PROGRAM = resolve(process.env.SKEIN_TEST_DIST ?? 'dist', 'skein.cjs');

export type Rules = ScriptInput['rules'];
export type Reply = NonNullable<Script['rules'][number]['reply']>;

/** A line of stream-json, or any other object that was printed. */
// biome-ignore lint/suspicious/noExplicitAny: tests read output that outside programs parse.
export type Line = Record<string, any>;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Every line of stdout as JSON. Throws if a line is not JSON. */
  readonly lines: readonly Line[];
  /** The last line of stdout. */
  readonly result: Line;
}

export interface RunOptions {
  readonly env?: Record<string, string | undefined>;
  readonly cwd?: string;
  /** Program to start instead, with the Skein command after its own arguments. */
  readonly through?: readonly [string, ...string[]];
  /** All of stdin. Default: empty. */
  readonly stdin?: string;
}

/** A process that still runs. */
export interface Running {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly stdout: string;
  readonly stderr: string;
  kill(signal: NodeJS.Signals): void;
  /** Writes a JSON line to stdin. */
  say(line: unknown): void;
  /** Writes text to stdin unchanged. */
  write(text: string): void;
  endInput(): void;
  /** Resolves with the first line that matches. Rejects if the process ends without such a line. */
  line(fits: (line: Line) => boolean): Promise<Line>;
}

export interface Scene {
  readonly simulator: Simulator;
  readonly root: string;
  readonly home: string;
  readonly skeinHome: string;
  readonly workspace: string;
  readonly tmp: string;
  /** Runs until the process ends. */
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Leaves stdin open. */
  start(args: readonly string[], options?: RunOptions): Running;
  /** The messages API bodies that were received, oldest first. */
  bodies(): readonly Line[];
  /** Returns the journal of a session's lead. Default: the only session. */
  journal(session?: string): Promise<readonly JournalRecord[]>;
}

/**
 * Sets up a home, a workspace and a model that answers by `rules`. All are removed after the test.
 */
export const setScene = async (rules?: Rules): Promise<Scene> => {
  const { close, ...scene } = await openScene(rules);
  onTestFinished(close);
  return scene;
};

/** Scene that the caller closes. */
export interface OpenScene extends Scene {
  /** Kills the processes of the scene and removes its root. */
  close(): Promise<void>;
}

/**
 * Scene for several tests. The caller closes it. `at`: an existing root. Default: a new folder. `clock`: clock of
 * the simulator, for its delays.
 */
export const openScene = async (
  rules: Rules = [{ reply: 'Done.' }],
  at?: string,
  clock: Clock = systemClock,
): Promise<OpenScene> => {
  const root = await realpath(at ?? (await mkdtemp(join(tmpdir(), 'scene-'))));
  const place = (name: string) => join(root, name);
  const [home, workspace, tmp] = [place('home'), place('workspace'), place('tmp')];
  for (const folder of [home, workspace, tmp]) await mkdir(folder, { recursive: true });
  const skeinHome = join(home, '.skein');
  const simulator = await startSimulator({ script: { rules }, clock });
  const alive = new Set<ChildProcessWithoutNullStreams>();
  const close = async () => {
    for (const child of alive) child.kill('SIGKILL');
    await simulator.close();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  };

  const start = (args: readonly string[], options: RunOptions = {}) => {
    const { env = {}, cwd = workspace, through = [] } = options;
    const [command = '', ...rest] = [...through, process.execPath, PROGRAM, ...args];
    const child = spawn(command, rest, {
      cwd,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        LANG: 'C.UTF-8',
        TMPDIR: tmp,
        HOME: home,
        SKEIN_HOME: skeinHome,
        ANTHROPIC_API_KEY: 'sk-of-the-test',
        ANTHROPIC_BASE_URL: simulator.url,
        // A scene is temporary, so a process with root rights may damage it.
        IS_SANDBOX: '1',
        ...env,
      },
    });
    alive.add(child);
    child.once('close', () => alive.delete(child));
    return running(child);
  };

  return {
    simulator,
    root,
    home,
    skeinHome,
    workspace,
    tmp,
    start,
    close,
    run(args, options = {}) {
      const process = start(args, options);
      if (options.stdin !== undefined) process.write(options.stdin);
      process.endInput();
      return process.ended;
    },
    bodies: () =>
      simulator.requests
        .filter(({ path }) => path.startsWith('/v1/messages'))
        .map(({ body }) => JSON.parse(body.toString()) as Line),
    async journal(session) {
      const id = session ?? (await readdir(join(skeinHome, 'sessions')))[0] ?? '';
      const folder = join(skeinHome, 'sessions', id, 'agents');
      const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.jsonl'));
      return linesOf(await readFile(join(folder, name), 'utf8')) as unknown as JournalRecord[];
    },
  };
};

const running = (child: ChildProcessWithoutNullStreams): Running => {
  const output = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8');
    child[stream].on('data', (text: string) => {
      output[stream] += text;
      for (const look of watchers) look();
    });
  }
  // An ended process no longer reads stdin.
  child.stdin.on('error', () => {});
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve({
        code,
        signal,
        ...output,
        get lines() {
          return linesOf(output.stdout);
        },
        get result() {
          return linesOf(output.stdout).at(-1) ?? {};
        },
      });
    });
  });
  return {
    pid: child.pid ?? 0,
    ended,
    get stdout() {
      return output.stdout;
    },
    get stderr() {
      return output.stderr;
    },
    kill: (signal) => void child.kill(signal),
    say: (line) => void child.stdin.write(`${JSON.stringify(line)}\n`),
    write: (text) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    line: (fits) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const whole = output.stdout.slice(0, output.stdout.lastIndexOf('\n') + 1);
          const found = linesOf(whole).find(fits);
          if (found === undefined) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
        void ended.then(({ code, stderr }) => {
          watchers.delete(look);
          reject(new Error(`The process ended with ${code} before it printed the line. ${stderr}`));
        });
      }),
  };
};

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

export const STREAM = ['--output-format', 'stream-json'] as const;
export const DRIVEN = ['-p', '--input-format', 'stream-json', ...STREAM] as const;

export const userLine = (text: string): Line => ({
  type: 'user',
  message: { role: 'user', content: text },
});

/** Reply with a single tool call. */
export const calls = (name: string, input: Record<string, unknown>): Reply => ({
  tool_use: [{ name, input }],
});

/** Pid that a command has written to a file: `echo $$ > pid`. */
export const pidIn = (workspace: string): number | undefined => {
  try {
    return Number(readFileSync(join(workspace, 'pid'), 'utf8')) || undefined;
  } catch {
    return undefined;
  }
};

/** The tool_result blocks of the last message of a request. */
export const resultsIn = (body: Line | undefined): readonly Line[] =>
  (body?.messages.at(-1)?.content ?? []).filter(({ type }: Line) => type === 'tool_result');

/**
 * Body as text, without cache breakpoints and diagnostics. From request to request it may only
 * grow.
 */
export const unmarked = (body: Line | undefined): string =>
  JSON.stringify(body, (key, value: unknown) => (IGNORED_KEYS.has(key) ? undefined : value));

const IGNORED_KEYS = new Set(['cache_control', 'diagnostics']);
