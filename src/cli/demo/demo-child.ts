/** The swarm of `skein demo` as a process of its own: started, read line by line, killed, and taken up again. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import type { DemoRepository } from './demo-repository.js';
import { DEMO_TASK } from './demo-script.js';

/** One object of stream-json. */
export type DemoLine = Readonly<Record<string, unknown>>;

/** What a line says under a key, as far as it is words. */
export const wordOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export interface DemoChildOptions {
  readonly machine: TerminalHost;
  readonly repository: DemoRepository;
  readonly baseUrl: string;
  readonly session: string;
  /** Told of each line. True: the process is to be killed here, as it stands. */
  readonly take: (line: DemoLine) => boolean;
}

export class DemoChild {
  /** Pids of the processes that ran the swarm, in their order. */
  readonly pids: number[] = [];
  stderr = '';
  private readonly options: DemoChildOptions;
  private running: ChildProcessByStdio<null, Readable, Readable> | undefined;

  constructor(options: DemoChildOptions) {
    this.options = options;
  }

  /** Nothing of the user's is read or written: home and state are in the throw-away folder too. */
  get environment(): Record<string, string | undefined> {
    const { machine, repository, baseUrl } = this.options;
    const { PATH, LANG, LC_ALL, TMPDIR, IS_SANDBOX } = machine.env;
    const { folder } = repository;
    return {
      PATH,
      LANG,
      LC_ALL,
      TMPDIR,
      IS_SANDBOX,
      HOME: folder,
      SKEIN_HOME: join(folder, 'state'),
      ANTHROPIC_BASE_URL: baseUrl,
      ANTHROPIC_API_KEY: 'simulated',
    };
  }

  begin(): Promise<boolean> {
    return this.run([DEMO_TASK, '--session-id', this.options.session]);
  }

  /** Goes on where the journals end. */
  resume(): Promise<boolean> {
    return this.run(['--resume', this.options.session]);
  }

  kill(signal: NodeJS.Signals): void {
    this.running?.kill(signal);
  }

  /** Resolves when it has ended: true when it was killed as `take` asked for. */
  private async run(args: readonly string[]): Promise<boolean> {
    const { machine, repository, take } = this.options;
    const [node = process.execPath, watchdog = ''] = machine.watchdog;
    const command = [join(dirname(watchdog), 'skein.js'), '-p', ...args, ...FLAGS];
    const child = spawn(node, command, {
      cwd: repository.path,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.running = child;
    if (child.pid !== undefined) this.pids.push(child.pid);
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr = `${this.stderr}${chunk.toString()}`.slice(-MOST_STDERR);
    });
    const ended = once(child, 'close');
    let isKilled = false;
    for await (const text of createInterface({ input: child.stdout })) {
      const line = parsed(text);
      if (isKilled || line === undefined || !take(line)) continue;
      isKilled = true;
      child.kill('SIGKILL');
    }
    await ended;
    return isKilled;
  }
}

const FLAGS = [
  '--output-format',
  'stream-json',
  '--include-partial-messages',
  '--permission-mode',
  'acceptEdits',
  '--ask',
];

const MOST_STDERR = 10_000;

const parsed = (text: string): DemoLine | undefined => {
  try {
    return JSON.parse(text) as DemoLine;
  } catch {
    // The last line of one that was killed may be torn.
    return undefined;
  }
};
