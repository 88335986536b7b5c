/**
 * The owner's side of the watchdog: starts it before the first child, tells it of every group, and
 * starts it again, with all it must know, when it dies. Never keeps the owner's event loop alive.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { SkeinError } from '../../../protocol/skein-error.js';

export interface WatchdogLink {
  /** Resolves when the watchdog is on duty; rejects with a WatchdogError when it cannot be. */
  ready(): Promise<void>;
  add(group: number): void;
  remove(group: number): void;
  /** Its duty is over: it ends what is left of us, and then itself. The next child has another. */
  dismiss(): void;
  /** The process that is on duty. */
  readonly pid: number | undefined;
}

export interface WatchdogOptions {
  /** Program and arguments: `[process.execPath, 'dist/watchdog.js']`. */
  readonly command: readonly string[];
  readonly marker: string;
}

/** Without it children could outlive us, so none is started. */
export class WatchdogError extends SkeinError {
  readonly code = 'watchdog';
}

const START_LIMIT_MS = 20_000;
/** A watchdog that keeps dying is not one. */
const MAX_STARTS = 20;

export const watchdogLink = ({ command, marker }: WatchdogOptions): WatchdogLink => {
  const groups = new Set<number>();
  let starts = 0;
  let onDuty: ChildProcess | undefined;
  let starting: Promise<void> | undefined;

  const tell = (line: string) => onDuty?.stdin?.write(`${line}\n`);

  const start = async () => {
    starts += 1;
    if (starts > MAX_STARTS) throw new WatchdogError('The watchdog process keeps dying.');
    const child = launch(command);
    onDuty = child;
    // It is told before it can listen: what is in the pipe reaches it even if we die meanwhile.
    tell(`=${marker}`);
    for (const group of groups) tell(`+${group}`);
    await untilReady(child);
    child.once('exit', () => {
      if (onDuty === child) forget();
      if (groups.size > 0) ready().catch(() => undefined);
    });
    unrefChild(child);
  };

  const forget = () => {
    onDuty = undefined;
    starting = undefined;
  };

  const ready = () => {
    starting ??= start().catch((error: unknown) => {
      forget();
      throw error;
    });
    return starting;
  };

  return {
    ready,
    add(group) {
      groups.add(group);
      tell(`+${group}`);
    },
    remove(group) {
      groups.delete(group);
      tell(`-${group}`);
    },
    dismiss() {
      onDuty?.stdin?.end();
      groups.clear();
      forget();
    },
    get pid() {
      return onDuty?.pid;
    },
  };
};

/** In a session of its own, with none of our secrets and none of our streams. */
const launch = ([program = '', ...args]: readonly string[]): ChildProcess => {
  const { PATH, HOME, TMPDIR } = process.env;
  return spawn(program, args, {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH, HOME, TMPDIR },
  });
};

const untilReady = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown) => {
      child.kill('SIGKILL');
      reject(new WatchdogError(`The watchdog process could not be started: ${why}.`, { cause }));
    };
    const timer = setTimeout(() => fail('it did not report in time'), START_LIMIT_MS);
    const settle = (then: () => void) => () => {
      clearTimeout(timer);
      then();
    };
    child.stdin?.on('error', () => undefined);
    child.once('error', (error) => settle(() => fail(error.message, error))());
    child.once(
      'exit',
      settle(() => fail('it ended at once')),
    );
    child.stdout?.once('data', settle(resolve));
  });

const unrefChild = (child: ChildProcess) => {
  child.stdout?.destroy();
  child.unref();
  // A pipe to a child is a socket, which the stream's type does not say.
  (child.stdin as Socket | null)?.unref();
};
