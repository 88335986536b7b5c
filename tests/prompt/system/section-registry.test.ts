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

/** A section that says its fact, and how often it was asked. */
const counted = (make: (compute: Section<Facts>['compute']) => Section<Facts>) => {
  let asked = 0;
  const made = make(({ word }) => {
    asked += 1;
    return word;
  });
  return { made, asked: () => asked };
};

const textsOf = (registry: SectionRegistry<Facts>, word: string) =>
  registry.resolve({ word }).map(({ text }) => text);

describe('a section that is cached', () => {
  test('is computed once, whatever changes (P7)', () => {
    const { made, asked } = counted((compute) => section('a', compute));
    const registry = new SectionRegistry([made]);
    expect(['one', 'two', 'three'].map((word) => textsOf(registry, word))).toEqual([
      ['one'],
      ['one'],
      ['one'],
    ]);
    expect(asked()).toBe(1);
  });

  test('is computed again after the conversation began anew', () => {
    const { made, asked } = counted((compute) => section('a', compute));
    const registry = new SectionRegistry([made]);
    textsOf(registry, 'one');
    registry.clear();
    expect(textsOf(registry, 'two')).toEqual(['two']);
    expect(asked()).toBe(2);
  });

  test('remembers also that it had nothing to say', () => {
    let asked = 0;
    const silent = section<Facts>('a', () => {
      asked += 1;
      return null;
    });
    const registry = new SectionRegistry([silent]);
    expect([textsOf(registry, 'one'), textsOf(registry, 'two')]).toEqual([[], []]);
    expect(asked).toBe(1);
  });
});

describe('a section without a word', () => {
  test('is left out', () => {
    const registry = new SectionRegistry([section<Facts>('a', () => ''), section('b', () => 'b')]);
    expect(textsOf(registry, 'one')).toEqual(['b']);
  });
});

describe('a section that is not cached', () => {
  test('is computed for every turn, and says why it may (P8)', () => {
    const { made, asked } = counted((compute) =>
      dangerousUncachedSection('a', compute, 'servers come and go'),
    );
    const registry = new SectionRegistry([made]);
    expect([textsOf(registry, 'one'), textsOf(registry, 'two')]).toEqual([['one'], ['two']]);
    expect(asked()).toBe(2);
    expect(registry.resolve({ word: 'x' })).toMatchObject([{ mayChange: 'servers come and go' }]);
    expect(registry.mayChange).toBe(true);
  });

  test('cannot be made without a reason', () => {
    // @ts-expect-error The reason is not optional.
    expect(() => dangerousUncachedSection('a', () => null)).toThrow(TypeError);
    expect(() => dangerousUncachedSection('a', () => null, ' ')).toThrow('Say why a may break');
  });

  test('is left out when it has nothing to say', () => {
    const silent = dangerousUncachedSection<Facts>('a', () => null, 'why');
    expect(textsOf(new SectionRegistry([silent]), 'x')).toEqual([]);
  });
});

describe('the sections of a prompt', () => {
  test('stand in the order of their cache classes, and of their making within one (P22)', () => {
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
            .filter((it) => it.cacheClass === kind)
            .map(({ name }) => Number(name));
          expect(order).toEqual(order.toSorted((a, b) => a - b));
        }
        expect(pieces).toHaveLength(classes.length);
      }),
    );
  });

  test('have names of their own', () => {
    const twice = [section<Facts>('a', () => null), section<Facts>('a', () => null)];
    expect(() => new SectionRegistry(twice)).toThrow('the same name');
  });
});
