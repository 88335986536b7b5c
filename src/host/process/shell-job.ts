/** Shell job: a command in the background and its output. */
import { Buffer } from 'node:buffer';
import type { Clock } from '../../protocol/clock.js';
import { type Artifact, MAX_ARTIFACT_BYTES } from '../../protocol/tools/artifact.js';
import type { Shell, ShellEnd } from '../../protocol/tools/shell.js';
import {
  MAX_BUFFERED_CHARACTERS,
  type ShellJobCommand,
  type ShellJobHandle,
  type ShellJobOutput,
  type ShellJobStatus,
} from '../../protocol/tools/shell-jobs.js';
import { OutputRing } from './output-ring.js';

export class ShellJob implements ShellJobHandle {
  /** Set by the table once the job runs. */
  id = '';
  readonly command: string;
  status: ShellJobStatus = { kind: 'running' };
  /** Resolves when the command runs. Rejects if the command cannot be started. */
  readonly started: Promise<void>;
  readonly ended: Promise<void>;
  private readonly clock: Clock;
  private readonly controller = new AbortController();
  private readonly ring = new OutputRing(MAX_BUFFERED_CHARACTERS);
  private readonly artifact: Artifact;
  private bytes = 0;
  private trouble: string | undefined;
  private watchers = 0;

  constructor(wanted: ShellJobCommand, shell: Shell, clock: Clock) {
    this.command = wanted.command;
    this.artifact = wanted.artifact;
    this.clock = clock;
    let runs: () => void;
    const running = new Promise<void>((resolve) => {
      runs = resolve;
    });
    const run = shell.run({
      command: wanted.command,
      cwd: wanted.cwd,
      thorough: true,
      ...(wanted.timeoutMs !== undefined && { timeoutMs: wanted.timeoutMs }),
      signal: this.controller.signal,
      onStarted: () => runs(),
      onOutput: (stream, chunk) => this.keep(this.ring.add(stream, chunk)),
    });
    this.started = Promise.race([running, run.then(() => undefined)]);
    this.ended = run.then(
      (end) => this.close(statusOf(end)),
      (error: unknown) => this.close({ kind: 'failed', why: messageOf(error) }),
    );
  }

  /** True if a caller waits for the end, so no notification is needed. */
  get isWatched(): boolean {
    return this.watchers > 0;
  }

  read(from: number): ShellJobOutput {
    const isFull = this.bytes > MAX_ARTIFACT_BYTES;
    const full = isFull ? `it holds only the first ${MAX_ARTIFACT_BYTES} bytes` : undefined;
    return {
      ...this.ring.since(from),
      artifact: this.artifact.path,
      artifactTrouble: this.trouble ?? full,
    };
  }

  async untilEnded(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.status.kind !== 'running') return;
    let giveUp = () => {};
    const enough = new Promise<void>((resolve) => {
      giveUp = resolve;
    });
    const forget = this.clock.wakeAt(this.clock.now() + timeoutMs, giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    await this.watch(Promise.race([this.ended, enough]));
    forget();
    signal.removeEventListener('abort', giveUp);
  }

  stop(): Promise<void> {
    this.controller.abort();
    return this.watch(this.ended);
  }

  private async watch(wait: Promise<void>): Promise<void> {
    this.watchers += 1;
    try {
      await wait;
    } finally {
      this.watchers -= 1;
    }
  }

  private keep(text: string): void {
    if (text === '') return;
    const bytes = Buffer.from(text);
    this.bytes += bytes.length;
    this.artifact.write(bytes);
  }

  private async close(status: ShellJobStatus): Promise<void> {
    this.keep(this.ring.finish());
    try {
      await this.artifact.close();
    } catch (error) {
      this.trouble = `it could not be kept: ${messageOf(error)}`;
    }
    this.status = status;
  }
}

const statusOf = ({ reason, exitCode, signal }: ShellEnd): ShellJobStatus => {
  if (reason === 'aborted') return { kind: 'stopped' };
  if (reason === 'timeout') return { kind: 'timeout' };
  if (exitCode !== null) return { kind: 'exited', exitCode };
  return { kind: 'signalled', signal: signal ?? 'SIGKILL' };
};

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
