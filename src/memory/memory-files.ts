/** The memory files of a session: one walk over the places where people leave instructions. */

import { pathBelow } from '../lib/paths/path-below.js';
import type { ConditionalRule, Memory, MemoryFile } from '../protocol/tools/memory.js';
import { MEMORY_LIMITS } from './memory-limits.js';
import { type MemoryFilesOptions, type MemoryWalk, walkMemory } from './memory-walk.js';

export type { MemoryFilesOptions, MemoryPlaces } from './memory-walk.js';

const NO_MEMORY: Memory = { files: [], rules: [], notices: [] };

export class MemoryFiles {
  private readonly options: MemoryFilesOptions;
  private walk: Promise<Memory> | undefined;
  private last: MemoryWalk | undefined;
  private isAnnounced = false;
  /** What touched files have brought in since; a walk finds the same ones again. */
  private readonly announced = new Set<string>();

  constructor(options: MemoryFilesOptions) {
    this.options = options;
  }

  /** One walk per session: the same promise until `clear` or `reset`. */
  load(): Promise<Memory> {
    this.walk ??= this.begin();
    return this.walk;
  }

  /** Forgets the walk, quietly: the next one is not announced again. */
  clear(): void {
    this.walk = undefined;
  }

  /** Forgets the walk, and `ports.loaded` hears of the next one. */
  reset(): void {
    this.clear();
    this.isAnnounced = false;
    this.announced.clear();
  }

  /** The rules about any of these absolute paths, in reading order; of the last walk that ended. */
  rulesFor(touched: readonly string[]): readonly ConditionalRule[] {
    const rules = this.last?.rules ?? [];
    const effort = { left: MEMORY_LIMITS.comparisons };
    const found = rules.flatMap(({ rule, bases, matcher }) => {
      const isAbout = (path: string) =>
        bases.some((base) => {
          const below = pathBelow({ path, folder: base });
          return below !== undefined && below !== '' && matcher.matches(below, effort);
        });
      return touched.some(isAbout) ? [rule] : [];
    });
    if (effort.left < 0) {
      this.last?.notices.add(
        'It takes too long to tell which rules are about the files that were touched, so some are told of that are not.',
      );
    }
    return found;
  }

  /** Instructions for the parts of the project that these absolute paths lie in, rules, and all notices. */
  async nearby(touched: readonly string[]): Promise<Memory> {
    await this.load();
    if (this.last === undefined) return NO_MEMORY;
    const { nested, notices } = this.last;
    const files = await nested.filesFor(touched);
    // The rules that lie there as well are known only now.
    const rules = this.rulesFor(touched);
    this.announceTouched(files, rules);
    return { files, rules, notices: notices.all() };
  }

  /** Each once, however often something that it is about is touched. */
  private announceTouched(files: readonly MemoryFile[], rules: readonly ConditionalRule[]) {
    const isNew = ({ path }: MemoryFile) => !this.announced.has(path);
    const news = { files: files.filter(isNew), rules: rules.filter(isNew), notices: [] };
    const all = [...news.files, ...news.rules];
    for (const { path } of all) this.announced.add(path);
    if (all.length > 0) this.options.ports.onLoad(news, 'touch');
  }

  private begin(): Promise<Memory> {
    if (this.options.places.isDisabled) return Promise.resolve(NO_MEMORY);
    const walk: Promise<Memory> = walkMemory(this.options).then((walked) => {
      // Whoever waits for a walk that was forgotten still gets it; nobody else hears of it.
      if (this.walk === walk) this.end(walked);
      return walked.memory;
    });
    return walk;
  }

  private end(walked: MemoryWalk) {
    this.last = walked;
    if (this.isAnnounced) return;
    this.isAnnounced = true;
    this.options.ports.onLoad(walked.memory, 'walk');
  }
}
