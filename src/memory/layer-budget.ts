/** What one layer may still take in. The first time that something does not fit is a notice. */
import type { MemoryLayer } from '../protocol/tools/memory.js';
import { MOST_CHARACTERS, MOST_FILES, MOST_LEXED, MOST_LOOKUPS } from './bounds.js';
import { type Notices, named } from './notices.js';

export class LayerBudget {
  private readonly layer: MemoryLayer;
  private readonly notices: Notices;
  private files = MOST_FILES;
  private characters = MOST_CHARACTERS;
  private lookups = MOST_LOOKUPS;
  private lexed = MOST_LEXED;

  constructor(layer: MemoryLayer, notices: Notices) {
    this.layer = layer;
    this.notices = notices;
  }

  /** Whether another path may be looked up. */
  mayLook(): boolean {
    if (this.files === 0) {
      this.say(`has more than ${MOST_FILES} memory files; the rest is left out.`);
      return false;
    }
    if (this.lookups === 0) {
      this.say(`names more than ${MOST_LOOKUPS} memory files; the rest is left out.`);
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

  /** Takes the file in, or says why not. */
  take(path: string, characters: number): boolean {
    if (this.files === 0 || characters > this.characters) {
      this.notices.say(
        `${named(path)} is left out: the ${this.layer} layer of memory holds ${MOST_FILES} files ` +
          `and ${MOST_CHARACTERS} characters at most.`,
      );
      return false;
    }
    this.files -= 1;
    this.characters -= characters;
    return true;
  }

  private say(what: string) {
    this.notices.say(`The ${this.layer} layer of memory ${what}`);
  }
}
