/** Terminal host that records its output as text, with the members that screens need. */
import type { TerminalHost } from '../../../src/terminal/terminal-host.js';
import { type RecordingTerminal, recordingTerminal } from './recording-terminal.js';

export interface RecordingHost
  extends Pick<
    TerminalHost,
    'stdout' | 'out' | 'backpressure' | 'onResize' | 'onContinue' | 'restoreAtExit'
  > {
  readonly terminal: RecordingTerminal;
  /** Sets whether a reader takes the output. */
  read(isRead: boolean): void;
  /** Simulates SIGCONT after the process was stopped. */
  resume(): void;
  /** Simulates an exit without shutdown. */
  crash(): void;
}

export const recordingHost = (columns = 40, rows = 12): RecordingHost => {
  const terminal = recordingTerminal(columns, rows);
  const [restores, continued] = [new Set<() => void>(), new Set<() => void>()];
  const waiting = new Set<() => void>();
  let isRead = true;
  return {
    terminal,
    stdout: { isTTY: true, columns, rows },
    out: (text) => terminal.write(text.replaceAll('\u0007', '')),
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
    resume: () => {
      for (const listener of continued) listener();
    },
    restoreAtExit(restore) {
      restores.add(restore);
      return () => restores.delete(restore);
    },
    crash: () => {
      for (const restore of restores) restore();
    },
  };
};
