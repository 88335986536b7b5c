import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dangerousUncachedSection,
  type Section,
  section,
} from '../../../src/prompt/system/section.js';
import { SectionRegistry } from '../../../src/prompt/system/section-registry.js';
import { CACHE_CLASSES } from '../../../src/protocol/model/prompt-head.js';

interface Facts {
  readonly word: string;
}

/** A section that returns its fact and counts its computations. */
const countingSection = (make: (compute: Section<Facts>['compute']) => Section<Facts>) => {
  let computations = 0;
  const made = make(({ word }) => {
    computations += 1;
    return word;
  });
  return { made, computations: () => computations };
};

const textsOf = (registry: SectionRegistry<Facts>, word: string) =>
  registry.resolve({ word }).map(({ text }) => text);

describe('a cached section', () => {
  test('is computed only once (P7)', () => {
    const { made, computations } = countingSection((compute) => section('a', compute));
    const registry = new SectionRegistry([made]);
    expect(['one', 'two', 'three'].map((word) => textsOf(registry, word))).toEqual([
      ['one'],
      ['one'],
      ['one'],
    ]);
    expect(computations()).toBe(1);
  });

  test('is computed again after clear()', () => {
    const { made, computations } = countingSection((compute) => section('a', compute));
    const registry = new SectionRegistry([made]);
    textsOf(registry, 'one');
    registry.clear();
    expect(textsOf(registry, 'two')).toEqual(['two']);
    expect(computations()).toBe(2);
  });

  test('caches an empty result', () => {
    let computations = 0;
    const empty = section<Facts>('a', () => {
      computations += 1;
      return null;
    });
    const registry = new SectionRegistry([empty]);
    expect([textsOf(registry, 'one'), textsOf(registry, 'two')]).toEqual([[], []]);
    expect(computations).toBe(1);
  });
});

describe('a section without text', () => {
  test('is left out', () => {
    const registry = new SectionRegistry([section<Facts>('a', () => ''), section('b', () => 'b')]);
    expect(textsOf(registry, 'one')).toEqual(['b']);
  });
});

describe('an uncached section', () => {
  test('is computed for every turn and has a reason (P8)', () => {
    const { made, computations } = countingSection((compute) =>
      dangerousUncachedSection('a', compute, 'servers come and go'),
    );
    const registry = new SectionRegistry([made]);
    expect([textsOf(registry, 'one'), textsOf(registry, 'two')]).toEqual([['one'], ['two']]);
    expect(computations()).toBe(2);
    expect(registry.resolve({ word: 'x' })).toMatchObject([{ mayChange: 'servers come and go' }]);
    expect(registry.mayChange).toBe(true);
  });

  test('cannot be created without a reason', () => {
    // @ts-expect-error The reason is not optional.
    expect(() => dangerousUncachedSection('a', () => null)).toThrow(TypeError);
    expect(() => dangerousUncachedSection('a', () => null, ' ')).toThrow('Say why a may break');
  });

  test('is left out if it is empty', () => {
    const empty = dangerousUncachedSection<Facts>('a', () => null, 'why');
    expect(textsOf(new SectionRegistry([empty]), 'x')).toEqual([]);
  });
});

describe('the sections of a prompt', () => {
  test('are ordered by cache class, then by creation (P22)', () => {
    const kinds = fc.array(fc.constantFrom(...CACHE_CLASSES), { maxLength: 12 });
    fc.assert(
      fc.property(kinds, (classes) => {
        const sections = classes.map((cacheClass, index) => ({
          name: String(index),
          cacheClass,
          compute: () => String(index),
        }));
        const pieces = new SectionRegistry<Facts>(sections).resolve({ word: '' });
        const ranks = pieces.map(({ cacheClass }) => CACHE_CLASSES.indexOf(cacheClass));
        expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
        for (const kind of CACHE_CLASSES) {
          const order = pieces
            .filter((piece) => piece.cacheClass === kind)
            .map(({ name }) => Number(name));
          expect(order).toEqual(order.toSorted((a, b) => a - b));
        }
        expect(pieces).toHaveLength(classes.length);
      }),
    );
  });

  test('must have unique names', () => {
    const twice = [section<Facts>('a', () => null), section<Facts>('a', () => null)];
    expect(() => new SectionRegistry(twice)).toThrow('the same name');
  });
});
