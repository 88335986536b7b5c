/** Terminal host that records its output as text, with the members that screens need. */
import type { TerminalHost } from '../../../src/terminal/terminal-host.js';
import { type PaperTerminal, paperTerminal } from './recording-terminal.js';

export interface PaperMachine
  extends Pick<
    TerminalHost,
    'stdout' | 'out' | 'backpressure' | 'onResize' | 'onContinue' | 'restoreAtExit'
  > {
  readonly paper: PaperTerminal;
  /** Sets whether a reader takes the output. */
  read(isRead: boolean): void;
  /** Simulates SIGCONT after the process was stopped. */
  goOn(): void;
  /** Simulates an exit without shutdown. */
  crash(): void;
}

export const paperMachine = (columns = 40, rows = 12): PaperMachine => {
  const paper = paperTerminal(columns, rows);
  const [lent, continued] = [new Set<() => void>(), new Set<() => void>()];
  const waiting = new Set<() => void>();
  let isRead = true;
  return {
    paper,
    stdout: { isTTY: true, columns, rows },
    out: (text) => paper.write(text.replaceAll('\u0007', '')),
    backpressure: {
      unblock: () => () => {},
      isFull: () => !isRead,
      onRoom(listener) {
        waiting.add(listener);
        return () => waiting.delete(listener);
      },
    },
    read(isReadNow) {
      isRead = isReadNow;
      if (isRead) for (const listener of waiting) listener();
    },
    onResize: () => () => {},
    onContinue(listener) {
      continued.add(listener);
      return () => continued.delete(listener);
    },
    goOn: () => {
      for (const listener of continued) listener();
    },
    restoreAtExit(giveBack) {
      lent.add(giveBack);
      return () => lent.delete(giveBack);
    },
    crash: () => {
      for (const giveBack of lent) giveBack();
    },
  };
};
