/** Port for a line-based dialog: single keys on a capable terminal, whole lines on any other. */
import type { TerminalHost } from './terminal-host.js';

/** Answer to a question of `Terminal.ask`. */
export type TerminalReply =
  | { readonly kind: 'line'; readonly text: string }
  /** Esc or Ctrl-C. */
  | { readonly kind: 'cancelled' }
  /** The signal of the question aborted. */
  | { readonly kind: 'withdrawn' }
  /** The input has ended. */
  | { readonly kind: 'gone' };

export interface TerminalHandlers {
  /** Receives a prompt or a command, which may have several lines. */
  line(text: string): void;
  interrupt(): void;
  escape(): void;
  /** Called at Ctrl-D on an empty line, and at the end of stdin. */
  end(): void;
}

export interface Terminal {
  readonly paint: Paint;
  /** Current width. */
  readonly columns: number;
  /** True if lines can be redrawn, so frequent progress lines are fine. */
  readonly isCapable: boolean;
  /** True if a person types here, so questions before the first run are possible. */
  readonly isInteractive: boolean;
  open(handlers: TerminalHandlers): void;
  /** Writes sanitized text, which may end in the middle of a line. */
  write(text: string): void;
  /** Starts a new line unless the cursor is at the start of a line. */
  freshLine(): void;
  /** Hides the prompt while a run is active, until the person types. */
  setBusy(isBusy: boolean): void;
  /**
   * Asks a question; only a single question may be open. Text that was typed before the question appeared does not answer it,
   * unless `isExpected`: the question follows from the person's last answer. Never rejects.
   */
  ask(label: string, signal: AbortSignal, isExpected?: boolean): Promise<TerminalReply>;
  /** Restores the terminal. Idempotent. */
  close(): void;
}

/** Text styles from the sixteen standard colours. Colour never carries information that the text lacks. */
export interface Paint {
  dim(text: string): string;
  strong(text: string): string;
  alarm(text: string): string;
  warn(text: string): string;
  good(text: string): string;
  accent(text: string): string;
  /** Swaps foreground and background. */
  inverse(text: string): string;
}

const wrap =
  (code: number, isColoured: boolean) =>
  (text: string): string =>
    isColoured && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text;

export const paintFor = (isColoured: boolean): Paint => ({
  dim: wrap(2, isColoured),
  strong: wrap(1, isColoured),
  alarm: wrap(31, isColoured),
  warn: wrap(33, isColoured),
  good: wrap(32, isColoured),
  accent: wrap(36, isColoured),
  inverse: wrap(7, isColoured),
});

/** True if the cursor can be moved, so that lines can be redrawn. */
export const isCapableTerminal = ({ env, stdin, stdout }: TerminalHost): boolean => {
  const { TERM = '' } = env;
  return stdin.isTTY === true && stdout.isTTY === true && TERM !== '' && TERM !== 'dumb';
};

/** True if a screen reader reads the output, so nothing may be redrawn. */
export const isForScreenReader = ({ env }: Pick<TerminalHost, 'env'>): boolean =>
  /^(?:1|true)$/.test(env.SKEIN_SCREEN_READER ?? '');

/** Rings the bell if stdout is a terminal. */
export const ringBell = ({ stdout, out }: Pick<TerminalHost, 'stdout' | 'out'>): void => {
  if (stdout.isTTY === true) out('\u0007');
};

export const wantsColour = (host: TerminalHost): boolean =>
  isCapableTerminal(host) && (host.env.NO_COLOR ?? '') === '';

/** Keys that arrive within this time after a question do not answer it: the person had not read it yet. */
export const GRACE_MS = 400;

/**
 * Asks a question that the signal can withdraw. `show` displays the question and receives the function that
 * settles it; `clear` removes the question, before the promise resolves. Never rejects.
 */
export const askWithdrawable = (
  signal: AbortSignal,
  show: (settle: (reply: TerminalReply) => void) => void,
  clear: (reply: TerminalReply) => void,
): Promise<TerminalReply> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve({ kind: 'withdrawn' });
      return;
    }
    const withdraw = () => settle({ kind: 'withdrawn' });
    const settle = (reply: TerminalReply) => {
      signal.removeEventListener('abort', withdraw);
      clear(reply);
      resolve(reply);
    };
    signal.addEventListener('abort', withdraw, { once: true });
    show(settle);
  });
