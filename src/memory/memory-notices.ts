/** Collects notices about files that were left out, without duplicates and up to a limit. */
import { MEMORY_LIMITS } from './memory-limits.js';

export class MemoryNotices {
  private readonly notices = new Set<string>();
  private omitted = 0;

  add(sentence: string): void {
    if (this.notices.has(sentence)) return;
    if (this.notices.size < MEMORY_LIMITS.notices) this.notices.add(sentence);
    else this.omitted += 1;
  }

  all(): readonly string[] {
    const rest = `${this.omitted} more notices about memory files are left out.`;
    return this.omitted === 0 ? [...this.notices] : [...this.notices, rest];
  }
}

const MAX_PATH_LENGTH = 300;

/** Returns the path for a notice, shortened and without control characters, because names are not trusted. */
export const printablePath = (path: string): string => {
  const plain = path.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
  if (plain.length <= MAX_PATH_LENGTH) return plain;
  const half = MAX_PATH_LENGTH / 2;
  return `${plain.slice(0, half)}…${plain.slice(-half)}`;
};
