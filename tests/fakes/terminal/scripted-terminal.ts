import { onTestFinished } from 'vitest';
import { paintFor, type Terminal, type TerminalReply } from '../../../src/terminal/terminal.js';

export interface ScriptedTerminal extends Terminal {
  /** All output, and each question with its answer. */
  readonly text: () => string;
}

/** A line or another reply. SILENCE waits until the question is withdrawn. */
export type ScriptedAnswer = string | Exclude<TerminalReply, { kind: 'line' }> | typeof SILENCE;
export const SILENCE = { kind: 'silence' } as const;

/**
 * Terminal that answers from a list, in order. An unexpected question or an unused answer fails the
 * test.
 */
export const scriptedTerminal = (...answers: readonly ScriptedAnswer[]): ScriptedTerminal => {
  let written = '';
  let asked = 0;
  onTestFinished(() => {
    if (asked !== answers.length) throw new Error(`${answers.length - asked} answers left over`);
  });
  const write = (text: string) => {
    written += text;
  };
  const replyTo = (signal: AbortSignal, answer: ScriptedAnswer): Promise<TerminalReply> => {
    if (typeof answer === 'string') return Promise.resolve({ kind: 'line', text: answer });
    if (answer.kind !== 'silence') return Promise.resolve(answer);
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({ kind: 'withdrawn' }));
    });
  };
  return {
    isCapable: false,
    isInteractive: true,
    columns: 80,
    paint: paintFor(false),
    write,
    text: () => written,
    open: () => {},
    freshLine: () => {
      if (written !== '' && !written.endsWith('\n')) written += '\n';
    },
    setBusy: () => {},
    close: () => {},
    async ask(label, signal) {
      const answer = answers[asked];
      asked += 1;
      if (answer === undefined) throw new Error(`No answer for: ${label}`);
      write(label);
      const reply = await replyTo(signal, answer);
      write(reply.kind === 'line' ? `${reply.text}\n` : `[${reply.kind}]\n`);
      return reply;
    },
  };
};
