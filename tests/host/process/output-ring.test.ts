import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OutputRing } from '../../../src/host/process/output-ring.js';

const ringOf = (size: number, ...pieces: readonly string[]) => {
  const ring = new OutputRing(size);
  for (const piece of pieces) ring.add('stdout', Buffer.from(piece));
  return ring;
};

describe('an output ring', () => {
  test('returns the text since the last read', () => {
    const ring = ringOf(10, 'abc');
    expect(ring.since(0)).toEqual({ text: 'abc', upTo: 3, dropped: 0 });
    expect(ring.since(3)).toEqual({ text: '', upTo: 3, dropped: 0 });
    ring.add('stderr', Buffer.from('de'));
    expect(ring.since(3)).toEqual({ text: 'de', upTo: 5, dropped: 0 });
  });

  test('keeps exactly its size, and counts the text that a reader missed', () => {
    const ring = ringOf(5, 'abcdefgh');
    expect(ring.since(0)).toEqual({ text: 'defgh', upTo: 8, dropped: 3 });
    expect(ring.since(2)).toEqual({ text: 'defgh', upTo: 8, dropped: 1 });
    expect(ring.since(3)).toEqual({ text: 'defgh', upTo: 8, dropped: 0 });
    expect(ring.since(7)).toEqual({ text: 'h', upTo: 8, dropped: 0 });
  });

  test('does not start with half a character', () => {
    expect(ringOf(3, 'a😀bc').since(0)).toEqual({ text: 'bc', upTo: 5, dropped: 3 });
  });

  test('joins a character whose bytes arrive around output of the other stream', () => {
    const ring = new OutputRing(10);
    const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
    ring.add('stdout', first);
    ring.add('stderr', Buffer.from('!'));
    ring.add('stdout', second);
    expect(ring.since(0).text).toBe('!é');
  });

  test('shows half a character at the end as a replacement character', () => {
    const ring = new OutputRing(10);
    ring.add('stdout', Buffer.from('é').subarray(0, 1));
    expect(ring.since(0).text).toBe('');
    ring.finish();
    expect(ring.since(0).text).toBe('\ufffd');
  });

  test('holds the end of the output for any chunks', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(8)), fc.integer({ min: 1, max: 20 }), (all, cuts, size) => {
        const whole = all.toWellFormed();
        const bytes = Buffer.from(whole);
        const ring = new OutputRing(size);
        let at = 0;
        let returned = '';
        for (const cut of [...cuts, bytes.length]) {
          returned += ring.add('stdout', bytes.subarray(at, at + cut));
          at = Math.min(bytes.length, at + cut);
        }
        returned += ring.finish();
        expect(returned).toBe(whole);
        const reading = ring.since(0);
        expect(reading.upTo).toBe(whole.length);
        expect(reading.dropped + reading.text.length).toBe(whole.length);
        expect(whole.endsWith(reading.text)).toBe(true);
        expect(reading.text.isWellFormed()).toBe(true);
        expect(reading.text.length).toBeGreaterThanOrEqual(Math.min(whole.length, size - 1));
        expect(reading.text.length).toBeLessThanOrEqual(size);
      }),
    );
  });
});
