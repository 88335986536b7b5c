/** Memory files of a session, loaded by one walk over all memory locations. */

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
  /** Paths already announced because a touched file needed them. */
  private readonly announcedPaths = new Set<string>();

  constructor(options: MemoryFilesOptions) {
    this.options = options;
  }

  /** Walks once per session: returns the same promise until `clear` or `reset`. */
  load(): Promise<Memory> {
    this.walk ??= this.begin();
    return this.walk;
  }

  /** Discards the walk. The next walk does not call `ports.onLoad`. */
  clear(): void {
    this.walk = undefined;
  }

  /** Discards the walk. The next walk calls `ports.onLoad`. */
  reset(): void {
    this.clear();
    this.isAnnounced = false;
    this.announcedPaths.clear();
  }

  /** Returns the rules that match any of these absolute paths, in reading order, from the last finished walk. */
  rulesFor(touched: readonly string[]): readonly ConditionalRule[] {
    const rules = this.last?.rules ?? [];
    const effort = { left: MEMORY_LIMITS.comparisons };
    const found = rules.flatMap(({ rule, bases, matcher }) => {
      const appliesTo = (path: string) =>
        bases.some((base) => {
          const below = pathBelow({ path, folder: base });
          return below !== undefined && below !== '' && matcher.matches(below, effort);
        });
      return touched.some(appliesTo) ? [rule] : [];
    });
    if (effort.left < 0) {
      this.last?.notices.add(
        'Matching rules to the touched files takes too long, so some rules are shown that may not apply.',
      );
    }
    return found;
  }

  /** Returns memory files of the directories around these absolute paths, matching rules, and all notices. */
  async nearby(touched: readonly string[]): Promise<Memory> {
    await this.load();
    if (this.last === undefined) return NO_MEMORY;
    const { nested, notices } = this.last;
    const files = await nested.filesFor(touched);
    // After the load above, because it may add rules.
    const rules = this.rulesFor(touched);
    this.announceTouched(files, rules);
    return { files, rules, notices: notices.all() };
  }

  /** Announces each file and rule once. */
  private announceTouched(files: readonly MemoryFile[], rules: readonly ConditionalRule[]) {
    const isNew = ({ path }: MemoryFile) => !this.announcedPaths.has(path);
    const news = { files: files.filter(isNew), rules: rules.filter(isNew), notices: [] };
    const all = [...news.files, ...news.rules];
    for (const { path } of all) this.announcedPaths.add(path);
    if (all.length > 0) this.options.ports.onLoad(news, 'touch');
  }

  private begin(): Promise<Memory> {
    if (this.options.places.isDisabled) return Promise.resolve(NO_MEMORY);
    const walk: Promise<Memory> = walkMemory(this.options).then((walked) => {
      // A discarded walk still resolves for its callers, but is neither stored nor announced.
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
