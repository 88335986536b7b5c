/** The world around the command, passed in so that every command can be run in a test. */
import type { HostEnvironment } from '../sdk/assembly/options/host-environment.js';
import type { EndSignal } from './input/interrupts.js';
import type { OutputPace } from './output/output-backpressure.js';

export interface TerminalHost extends HostEnvironment {
  readonly stdin: NodeJS.ReadStream & { readonly fd: number };
  /** What stdout is connected to; it is written with `out`. */
  readonly stdout: { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  /** The only way to stdout. Text that cannot be written any more is dropped. */
  readonly out: (text: string) => void;
  /** Whether it is read; for those who draw again and again. */
  readonly pace: OutputPace;
  /** Nobody reads stdout any more, as far as the last write could tell. */
  readonly isOutputClosed: () => boolean;
  /** The same for stderr. */
  readonly err: (text: string) => void;
  /** Calls back at each Ctrl-C or request to end; the returned function stops it. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** The same for a host that knows what to do with each; a second one does not quit by itself. */
  readonly onSignal: (listener: (signal: EndSignal) => void) => () => void;
  /** Calls back when the terminal has another size. */
  readonly onResize: (listener: () => void) => () => void;
  /** Calls back when the process goes on that somebody else had stopped: the terminal is not as it was. */
  readonly onContinue: (listener: () => void) => () => void;
  /**
   * Whoever changes the terminal says how to give it back: that is done however the process ends, and
   * before its last words. The returned function is for those who have given it back themselves.
   */
  readonly lend: (giveBack: () => void) => () => void;
  /** Stops here until the shell lets it go on; returns then. */
  readonly suspend: () => void;
  /** Ends the process, whatever still runs. */
  readonly quit: (code: number) => void;
}
