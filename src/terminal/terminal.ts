/** Both ways to talk to a person in lines: keys on a capable terminal, whole lines on any other. */
import type { TerminalHost } from './terminal-host.js';

/** An answer to a question that was put with `ask`. */
export type Reply =
  | { readonly kind: 'line'; readonly text: string }
  /** Esc or Ctrl-C. */
  | { readonly kind: 'cancelled' }
  /** Whoever asked does not need it any more. */
  | { readonly kind: 'withdrawn' }
  /** Nothing more can be typed. */
  | { readonly kind: 'gone' };

export interface TerminalHandlers {
  /** A prompt or a command; it may have several lines. */
  line(text: string): void;
  interrupt(): void;
  escape(): void;
  /** Ctrl-D on an empty line, or the end of stdin. */
  end(): void;
}

export interface Terminal {
  readonly paint: Paint;
  /** How wide it is now. */
  readonly columns: number;
  /** It can be redrawn, so passing remarks do no harm. */
  readonly isCapable: boolean;
  /** A person sits there, who can be asked before anything runs. */
  readonly isPerson: boolean;
  open(handlers: TerminalHandlers): void;
  /** Text that is harmless already; it may end in the middle of a line. */
  write(text: string): void;
  /** What comes next starts on a line of its own. */
  freshLine(): void;
  /** While something is under way there is no prompt, until something is typed. */
  setBusy(isBusy: boolean): void;
  /**
   * One question at a time. What was typed before it was shown does not answer it, unless the person
   * is waiting for it already: it goes on with what they have just said.
   */
  ask(label: string, signal: AbortSignal, isExpected?: boolean): Promise<Reply>;
  /** Leaves the terminal as it was found. May be called again. */
  close(): void;
}

/** Of the sixteen colours that every terminal has. None of them says what no word or sign says too. */
export interface Paint {
  dim(text: string): string;
  strong(text: string): string;
  alarm(text: string): string;
  warn(text: string): string;
  good(text: string): string;
  accent(text: string): string;
  /** Front and back change places. */
  lit(text: string): string;
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
  lit: wrap(7, isColoured),
});

/** Whether the cursor can be moved: without that, lines are all there is. */
export const isCapableTerminal = ({ env, stdin, stdout }: TerminalHost): boolean => {
  const { TERM = '' } = env;
  return stdin.isTTY === true && stdout.isTTY === true && TERM !== '' && TERM !== 'dumb';
};

/** Somebody hears what is written: nothing is drawn again, and nothing moves. */
export const isForScreenReader = ({ env }: Pick<TerminalHost, 'env'>): boolean =>
  /^(?:1|true)$/.test(env.SKEIN_SCREEN_READER ?? '');

/** Somebody should look. A file or another program has nothing to ring. */
export const ringOn = ({ stdout, out }: Pick<TerminalHost, 'stdout' | 'out'>): void => {
  if (stdout.isTTY === true) out('\u0007');
};

export const wantsColour = (machine: TerminalHost): boolean =>
  isCapableTerminal(machine) && (machine.env.NO_COLOR ?? '') === '';

/** Keys that come this soon after a question were meant for something else. */
export const GRACE_MS = 400;

/**
 * A question that whoever asked may withdraw. `show` puts it before the person and is handed the way
 * to settle it; `clear` takes it away again, before anybody hears the reply.
 */
export const withdrawable = (
  signal: AbortSignal,
  show: (settle: (reply: Reply) => void) => void,
  clear: (reply: Reply) => void,
): Promise<Reply> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve({ kind: 'withdrawn' });
      return;
    }
    const withdraw = () => settle({ kind: 'withdrawn' });
    const settle = (reply: Reply) => {
      signal.removeEventListener('abort', withdraw);
      clear(reply);
      resolve(reply);
    };
    signal.addEventListener('abort', withdraw, { once: true });
    show(settle);
  });
