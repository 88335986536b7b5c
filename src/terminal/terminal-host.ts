/** The process and terminal around a command, injected so that every command can run in a test. */
import type { HostEnvironment } from '../sdk/assembly/options/host-environment.js';
import type { EndSignal } from './input/interrupts.js';
import type { OutputBackpressure } from './output/output-backpressure.js';

export interface TerminalHost extends HostEnvironment {
  readonly stdin: NodeJS.ReadStream & { readonly fd: number };
  /** False if stdin is no pipe and no file. Does not open `stdin`. */
  hasPipedInput?(): boolean;
  /** Facts about stdout. Write with `out`. */
  readonly stdout: { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  /** Writes to stdout. Drops the text if stdout is closed. */
  readonly out: (text: string) => void;
  /** Backpressure of stdout, for screens that redraw. */
  readonly backpressure: OutputBackpressure;
  /** True if the last write found stdout closed. */
  readonly isOutputClosed: () => boolean;
  /** Writes to stderr. Drops the text if stderr is closed. */
  readonly err: (text: string) => void;
  /**
   * Calls the listener at the first Ctrl-C or termination signal; the second signal quits. Returns a function
   * that removes the listener.
   */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** Calls the listener at every signal and never quits. Returns a function that removes the listener. */
  readonly onSignal: (listener: (signal: EndSignal) => void) => () => void;
  /** Calls the listener when the terminal size changes. Returns a function that removes the listener. */
  readonly onResize: (listener: () => void) => () => void;
  /**
   * Calls the listener when the process continues after SIGSTOP, because the shell may have changed the terminal
   * in between. Returns a function that removes the listener.
   */
  readonly onContinue: (listener: () => void) => () => void;
  /**
   * Registers a function that restores the terminal. It runs before the process exits, for any reason, and before
   * the last output. Returns a function that cancels the registration.
   */
  readonly restoreAtExit: (restore: () => void) => () => void;
  /** Suspends the process; returns when the shell continues it. */
  readonly suspend: () => void;
  /** Exits the process at once. */
  readonly quit: (code: number) => void;
}
