import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DRAFT_LENGTH } from '../../../src/terminal/input/line-editor.js';
import { PasteFilter } from '../../../src/terminal/input/paste-filter.js';

const BEGIN = '\u001b[200~';
const END = '\u001b[201~';

/** Returns typed and pasted text in order. */
const filtered = (chunks: readonly string[]) => {
  const received: string[] = [];
  const record = (kind: string) => (text: string) => {
    const last = received.at(-1);
    if (kind === 'typed' && last?.startsWith('typed ')) received[received.length - 1] = last + text;
    else received.push(`${kind} ${text}`);
  };
  const filter = new PasteFilter(record('typed'), record('pasted'));
  for (const chunk of chunks) filter.push(chunk);
  return received;
};

describe('pasted text', () => {
  test('is separated from typed text', () => {
    expect(filtered([`ab${BEGIN}one\ntwo${END}cd`])).toEqual([
      'typed ab',
      'pasted one\ntwo',
      'typed cd',
    ]);
  });

  test('is the same for any chunks', () => {
    const part = fc.constantFrom(
      'a',
      'é',
      '\r',
      '[200',
      '\u001b[A',
      `${BEGIN}x\ny${END}`,
      `${BEGIN}${END}`,
    );
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat(20)), (parts, cuts) => {
        const text = parts.join('');
        const chunks: string[] = [];
        let rest = text;
        for (const cut of cuts) {
          // A single Esc is a key, so terminals do not split a sequence after its Esc.
          let at = cut;
          while (rest.slice(Math.max(0, at - 2), at).includes('\u001b')) at += 1;
          chunks.push(rest.slice(0, at));
          rest = rest.slice(at);
        }
        expect(filtered([...chunks, rest])).toEqual(filtered([text]));
      }),
    );
  });

  test('is cut at the maximum length of a prompt plus a single chunk', () => {
    const chunk = 'x'.repeat(100_000);
    const chunks = [BEGIN, ...Array.from({ length: 50 }, () => chunk), END];
    const [pasted = ''] = filtered(chunks);
    expect(pasted.length).toBeGreaterThan(MAX_DRAFT_LENGTH);
    expect(pasted.length).toBeLessThanOrEqual(MAX_DRAFT_LENGTH + chunk.length + 'pasted '.length);
  });
});
