/** A question with two answers, put until one of them comes. */
import type { Terminal } from '../../terminal/terminal.js';

/** Undefined when the person left instead. */
export const askYesOrNo = async (
  label: string,
  terminal: Terminal,
): Promise<boolean | undefined> => {
  for (let isExpected = false; ; isExpected = true) {
    const reply = await terminal.ask(label, new AbortController().signal, isExpected);
    if (reply.kind !== 'line') return undefined;
    const word = reply.text.trim().toLowerCase();
    if (word === 'n' || word === 'no') return false;
    if (word === 'y' || word === 'yes') return true;
    terminal.write('Please answer y or n.\n');
  }
};
