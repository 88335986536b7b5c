import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { occurrences } from '../../../src/tools/text/occurrences.js';

const everyPlace = (text: string, wanted: string): readonly number[] =>
  Array.from(text, (_, at) => at).filter((at) => text.startsWith(wanted, at));

const withoutOverlaps = (places: readonly number[], length: number): readonly number[] => {
  const kept: number[] = [];
  for (const place of places) if (place >= (kept.at(-1) ?? -length) + length) kept.push(place);
  return kept;
};

/** Two letters only, so that nearly everything repeats itself. */
const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 6 });
const passage = fc.tuple(word, fc.integer({ min: 1, max: 40 }), word).map(([it, times, end]) => {
  return it.repeat(times) + end;
});
const text = fc
  .tuple(passage, fc.array(fc.oneof(passage, word), { maxLength: 8 }))
  .map(([wanted, parts]) => ({ wanted, text: [wanted, ...parts, wanted, wanted].join('') }));

describe('the occurrences of a passage', () => {
  test('are the places where it stands, whatever its length', () => {
    fc.assert(
      fc.property(text, ({ wanted, text: all }) => {
        const places = everyPlace(all, wanted);
        expect([...occurrences(all, wanted, true)]).toEqual(places);
        expect([...occurrences(all, wanted, false)]).toEqual(
          withoutOverlaps(places, wanted.length),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('are none of nothing', () => {
    expect([...occurrences('abc', '', true)]).toEqual([]);
  });

  test('are found in a text that nearly repeats the passage, without comparing all of it each time', () => {
    const half = 'a'.repeat(10_000);
    expect([...occurrences('a'.repeat(15_000_000), `${half}b${half}`, true)]).toEqual([]);
  });
});
