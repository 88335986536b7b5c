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
  private artifactError: string | undefined;
  private watchers = 0;

  constructor(request: ShellJobCommand, shell: Shell, clock: Clock) {
    this.command = request.command;
    this.artifact = request.artifact;
    this.clock = clock;
    let markStarted: () => void;
    const running = new Promise<void>((resolve) => {
      markStarted = resolve;
    });
    const run = shell.run({
      command: request.command,
      cwd: request.cwd,
      thorough: true,
      ...(request.timeoutMs !== undefined && { timeoutMs: request.timeoutMs }),
      signal: this.controller.signal,
      onStarted: () => markStarted(),
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
    const fullNotice = isFull ? `it holds only the first ${MAX_ARTIFACT_BYTES} bytes` : undefined;
    return {
      ...this.ring.since(from),
      artifact: this.artifact.path,
      artifactProblem: this.artifactError ?? fullNotice,
    };
  }

  async untilEnded(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.status.kind !== 'running') return;
    let stopWaiting = () => {};
    const waitOver = new Promise<void>((resolve) => {
      stopWaiting = resolve;
    });
    const cancelTimer = this.clock.wakeAt(this.clock.now() + timeoutMs, stopWaiting);
    signal.addEventListener('abort', stopWaiting, { once: true });
    await this.watch(Promise.race([this.ended, waitOver]));
    cancelTimer();
    signal.removeEventListener('abort', stopWaiting);
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
      this.artifactError = `it could not be kept: ${messageOf(error)}`;
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
