/**
 * Demo child: runs the swarm of `skein demo` in its own process, which can be killed and resumed.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { parseJson } from '../../lib/json/parse-json.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import type { DemoRepository } from './demo-repository.js';
import { DEMO_TASK } from './demo-script.js';

/** Line of stream-json output. */
export type DemoLine = Readonly<Record<string, unknown>>;

interface DemoChildOptions {
  readonly host: TerminalHost;
  readonly repository: DemoRepository;
  readonly baseUrl: string;
  readonly session: string;
  /** Receives each line. Returns true to kill the process at once. */
  readonly take: (line: DemoLine) => boolean;
}

export class DemoChild {
  /** Pids of the processes that ran the swarm, in order. */
  readonly pids: number[] = [];
  stderr = '';
  private readonly options: DemoChildOptions;
  private running: ChildProcessByStdio<null, Readable, Readable> | undefined;

  constructor(options: DemoChildOptions) {
    this.options = options;
  }

  /** Environment with home and state in the temporary folder, so that no user files are touched. */
  get environment(): Record<string, string | undefined> {
    const { host, repository, baseUrl } = this.options;
    const { PATH, LANG, LC_ALL, TMPDIR, IS_SANDBOX } = host.env;
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

  start(): Promise<boolean> {
    return this.run([DEMO_TASK, '--session-id', this.options.session]);
  }

  /** Resumes the session from its journals. */
  resume(): Promise<boolean> {
    return this.run(['--resume', this.options.session]);
  }

  kill(signal: NodeJS.Signals): void {
    this.running?.kill(signal);
  }

  /** Resolves at the end of the process, with true if `take` had it killed. */
  private async run(args: readonly string[]): Promise<boolean> {
    const { host, repository, take } = this.options;
    const [node = process.execPath, watchdog = ''] = host.watchdog;
    const command = [join(dirname(watchdog), 'skein.cjs'), '-p', ...args, ...FLAGS];
    const child = spawn(node, command, {
      cwd: repository.path,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.running = child;
    if (child.pid !== undefined) this.pids.push(child.pid);
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr = `${this.stderr}${chunk.toString()}`.slice(-MAX_STDERR_LENGTH);
    });
    const ended = once(child, 'close');
    let isKilled = false;
    for await (const text of createInterface({ input: child.stdout })) {
      const line = parseLine(text);
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

const MAX_STDERR_LENGTH = 10_000;

// The last line of a killed process may be incomplete.
const parseLine = (text: string) => parseJson(text) as DemoLine | undefined;
