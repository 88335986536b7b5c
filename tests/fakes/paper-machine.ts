/** A machine whose terminal is made of text, as far as screens need one. */
import type { Machine } from '../../src/terminal/machine.js';
import { type PaperTerminal, paperTerminal } from './paper-terminal.js';

export interface PaperMachine
  extends Pick<Machine, 'stdout' | 'out' | 'onResize' | 'onContinue' | 'lend'> {
  readonly paper: PaperTerminal;
  /** The process goes on that somebody else had stopped. */
  goOn(): void;
  /** The process ends here, without a word to anybody. */
  crash(): void;
}

export const paperMachine = (columns = 40, rows = 12): PaperMachine => {
  const paper = paperTerminal(columns, rows);
  const [lent, continued] = [new Set<() => void>(), new Set<() => void>()];
  return {
    paper,
    stdout: { isTTY: true, columns, rows },
    out: (text) => paper.write(text.replaceAll('\u0007', '')),
    onResize: () => () => {},
    onContinue(listener) {
      continued.add(listener);
      return () => continued.delete(listener);
    },
    goOn: () => {
      for (const listener of continued) listener();
    },
    lend(giveBack) {
      lent.add(giveBack);
      return () => lent.delete(giveBack);
    },
    crash: () => {
      for (const giveBack of lent) giveBack();
    },
  };
};
