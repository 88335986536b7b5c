import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { occurrences } from '../../../src/tools/text/occurrences.js';

const everyPlace = (text: string, passage: string): readonly number[] =>
  Array.from(text, (_, at) => at).filter((at) => text.startsWith(passage, at));

const withoutOverlaps = (places: readonly number[], length: number): readonly number[] => {
  const kept: number[] = [];
  for (const place of places) if (place >= (kept.at(-1) ?? -length) + length) kept.push(place);
  return kept;
};

/** Only two letters, so that texts have many repetitions. */
const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 6 });
const passage = fc.tuple(word, fc.integer({ min: 1, max: 40 }), word).map(([start, times, end]) => {
  return start.repeat(times) + end;
});
const text = fc
  .tuple(passage, fc.array(fc.oneof(passage, word), { maxLength: 8 }))
  .map(([searched, parts]) => ({
    searched,
    text: [searched, ...parts, searched, searched].join(''),
  }));

describe('the occurrences of a passage', () => {
  test('are found for any length of the passage', () => {
    fc.assert(
      fc.property(text, ({ searched, text: all }) => {
        const places = everyPlace(all, searched);
        expect([...occurrences(all, searched, true)]).toEqual(places);
        expect([...occurrences(all, searched, false)]).toEqual(
          withoutOverlaps(places, searched.length),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('do not exist for an empty passage', () => {
    expect([...occurrences('abc', '', true)]).toEqual([]);
  });

  test('are found in linear time in a text that nearly repeats the passage', () => {
    const half = 'a'.repeat(10_000);
    expect([...occurrences('a'.repeat(15_000_000), `${half}b${half}`, true)]).toEqual([]);
  });
});
