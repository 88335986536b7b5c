/**
 * Remaining budget of one memory layer: files, characters, lookups. Adds a notice when a limit is
 * reached.
 */
import type { MemoryLayer } from '../protocol/tools/memory.js';
import { MEMORY_LIMITS } from './memory-limits.js';
import { type MemoryNotices, printablePath } from './memory-notices.js';

export class LayerBudget {
  private readonly layer: MemoryLayer;
  private readonly notices: MemoryNotices;
  private files: number = MEMORY_LIMITS.files;
  private characters: number = MEMORY_LIMITS.characters;
  private lookups: number = MEMORY_LIMITS.lookups;
  private lexed: number = MEMORY_LIMITS.lexedCharacters;

  constructor(layer: MemoryLayer, notices: MemoryNotices) {
    this.layer = layer;
    this.notices = notices;
  }

  /** Uses one lookup. Returns false and adds a notice if no files or lookups are left. */
  mayLook(): boolean {
    if (this.files === 0) {
      this.notify(`has more than ${MEMORY_LIMITS.files} memory files; the rest is left out.`);
      return false;
    }
    if (this.lookups === 0) {
      this.notify(`names more than ${MEMORY_LIMITS.lookups} memory files; the rest is left out.`);
      return false;
    }
    this.lookups -= 1;
    return true;
  }

  mayLex(characters: number): boolean {
    if (characters > this.lexed) return false;
    this.lexed -= characters;
    return true;
  }

  /** Reserves room for the file. Returns false and adds a notice if the file does not fit. */
  take(path: string, characters: number): boolean {
    if (this.files === 0 || characters > this.characters) {
      this.notices.add(
        `${printablePath(path)} is left out: the ${this.layer} layer of memory holds ${MEMORY_LIMITS.files} files ` +
          `and ${MEMORY_LIMITS.characters} characters at most.`,
      );
      return false;
    }
    this.files -= 1;
    this.characters -= characters;
    return true;
  }

  private notify(statement: string) {
    this.notices.add(`The ${this.layer} layer of memory ${statement}`);
  }
}
