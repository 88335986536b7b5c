/** Section registry: orders the sections of a prompt and caches the text of session sections. */
import { CACHE_CLASSES } from '../../protocol/model/prompt-head.js';
import type { PromptPiece, Section, SourcedText } from './section.js';

export class SectionRegistry<Facts> {
  private readonly sections: readonly Section<Facts>[];
  private readonly computed = new Map<string, SourcedText | null>();

  constructor(sections: readonly Section<Facts>[]) {
    const names = new Set(sections.map(({ name }) => name));
    if (names.size < sections.length) throw new Error('Two sections have the same name.');
    // Sections that change more often come last, because a change voids the cache after it.
    this.sections = CACHE_CLASSES.flatMap((kind) =>
      sections.filter(({ cacheClass }) => cacheClass === kind),
    );
  }

  /** True if a section may return another text on the next turn. */
  get mayChange(): boolean {
    return this.sections.some(({ cacheClass }) => cacheClass === 'ephemeral');
  }

  resolve(facts: Facts): readonly PromptPiece[] {
    return this.sections.flatMap((section) => {
      const computed = this.compute(section, facts);
      if (computed === null || computed.text === '') return [];
      const { name, cacheClass, mayChange } = section;
      return [
        {
          name,
          zone: 'dynamic',
          cacheClass,
          ...(mayChange !== undefined && { mayChange }),
          ...computed,
        },
      ];
    });
  }

  /** Discards the cached texts. Called after the conversation was cleared or compacted. */
  clear(): void {
    this.computed.clear();
  }

  private compute(section: Section<Facts>, facts: Facts): SourcedText | null {
    const { name, cacheClass } = section;
    const earlier = cacheClass === 'ephemeral' ? undefined : this.computed.get(name);
    if (earlier !== undefined) return earlier;
    const result = section.compute(facts);
    const computed = typeof result === 'string' ? { text: result, source: 'skein' } : result;
    this.computed.set(name, computed);
    return computed;
  }
}
