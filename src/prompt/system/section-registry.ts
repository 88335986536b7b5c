/** The sections of a prompt: which are computed once, which every turn, and in which order they stand. */
import { CACHE_CLASSES } from '../../protocol/model/prompt.js';
import type { Piece, Said, Section } from './section.js';

export class SectionRegistry<Facts> {
  private readonly sections: readonly Section<Facts>[];
  private readonly computed = new Map<string, Said | null>();

  constructor(sections: readonly Section<Facts>[]) {
    const names = new Set(sections.map(({ name }) => name));
    if (names.size < sections.length) throw new Error('Two sections have the same name.');
    // What changes more often stands further behind, so that it voids less.
    this.sections = CACHE_CLASSES.flatMap((kind) =>
      sections.filter(({ cacheClass }) => cacheClass === kind),
    );
  }

  /** Some section may say something else next time. */
  get mayChange(): boolean {
    return this.sections.some(({ cacheClass }) => cacheClass === 'ephemeral');
  }

  resolve(facts: Facts): readonly Piece[] {
    return this.sections.flatMap((section) => {
      const said = this.said(section, facts);
      if (said === null || said.text === '') return [];
      const { name, cacheClass, mayChange } = section;
      return [
        {
          name,
          zone: 'dynamic',
          cacheClass,
          ...(mayChange !== undefined && { mayChange }),
          ...said,
        },
      ];
    });
  }

  /** The conversation began anew or was shortened. */
  clear(): void {
    this.computed.clear();
  }

  private said(section: Section<Facts>, facts: Facts): Said | null {
    const { name, cacheClass } = section;
    const known = cacheClass === 'ephemeral' ? undefined : this.computed.get(name);
    if (known !== undefined) return known;
    const given = section.compute(facts);
    const said = typeof given === 'string' ? { text: given, source: 'skein' } : given;
    this.computed.set(name, said);
    return said;
  }
}
