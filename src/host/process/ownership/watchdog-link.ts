/**
 * Watchdog link of the owner: starts the watchdog before the first child, sends it every process
 * group, and restarts it if it dies. Does not keep the owner's event loop alive.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { SkeinError } from '../../../protocol/skein-error.js';

export interface WatchdogLink {
  /** Resolves when the watchdog runs. Rejects with WatchdogError if it cannot be started. */
  ready(): Promise<void>;
  add(group: number): void;
  remove(group: number): void;
  /** Closes the link: the watchdog kills the remaining groups and exits. `ready` then starts a new watchdog. */
  dismiss(): void;
  /** Process id of the running watchdog. */
  readonly pid: number | undefined;
}

export interface WatchdogOptions {
  /** Program and arguments, such as `[process.execPath, 'dist/watchdog.cjs']`. */
  readonly command: readonly string[];
  readonly marker: string;
}

/** Thrown if the watchdog cannot run. No child is started then, because it could outlive the owner. */
export class WatchdogError extends SkeinError {
  readonly code = 'watchdog';
}

const START_LIMIT_MS = 20_000;
const MAX_STARTS = 20;

export const watchdogLink = ({ command, marker }: WatchdogOptions): WatchdogLink => {
  const groups = new Set<number>();
  let starts = 0;
  let watchdog: ChildProcess | undefined;
  let starting: Promise<void> | undefined;

  const send = (line: string) => watchdog?.stdin?.write(`${line}\n`);

  const start = async () => {
    starts += 1;
    if (starts > MAX_STARTS) throw new WatchdogError('The watchdog process keeps dying.');
    const child = launch(command);
    watchdog = child;
    // Written before the watchdog reads, because data in the pipe arrives even if the owner dies.
    send(`=${marker}`);
    for (const group of groups) send(`+${group}`);
    await untilReady(child);
    child.once('exit', () => {
      if (watchdog === child) reset();
      if (groups.size > 0) ready().catch(() => undefined);
    });
    unrefChild(child);
  };

  const reset = () => {
    watchdog = undefined;
    starting = undefined;
  };

  const ready = () => {
    starting ??= start().catch((error: unknown) => {
      reset();
      throw error;
    });
    return starting;
  };

  return {
    ready,
    add(group) {
      groups.add(group);
      send(`+${group}`);
    },
    remove(group) {
      groups.delete(group);
      send(`-${group}`);
    },
    dismiss() {
      watchdog?.stdin?.end();
      groups.clear();
      reset();
    },
    get pid() {
      return watchdog?.pid;
    },
  };
};

/** Starts the watchdog in its own session, without secrets and inherited streams. */
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
    const settle = (action: () => void) => () => {
      clearTimeout(timer);
      action();
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
  // The stdin pipe is a Socket, but its type does not say so.
  (child.stdin as Socket | null)?.unref();
};
