/** Sentences for people about what was left out: each once, and not without end. */
import { MOST_NOTICES } from './bounds.js';

export class Notices {
  private readonly said = new Set<string>();
  private unsaid = 0;

  say(sentence: string): void {
    if (this.said.has(sentence)) return;
    if (this.said.size < MOST_NOTICES) this.said.add(sentence);
    else this.unsaid += 1;
  }

  all(): readonly string[] {
    const rest = `There is more to say of the memory files: ${this.unsaid} notices are left out.`;
    return this.unsaid === 0 ? [...this.said] : [...this.said, rest];
  }
}

const LONGEST_NAME = 300;

/** A path as a notice names it: strangers choose names, so without what could pose as our words. */
export const named = (path: string): string => {
  const plain = path.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
  if (plain.length <= LONGEST_NAME) return plain;
  const half = LONGEST_NAME / 2;
  return `${plain.slice(0, half)}…${plain.slice(-half)}`;
};
