import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RotatingLog } from '../../../src/host/files/rotating-log.js';

test('a rotating log keeps the newest lines in files of a bounded size', () => {
  const lines = fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 80 });
  fc.assert(
    fc.property(lines, fc.integer({ min: 1, max: 3 }), (texts, maxOldFiles) => {
      const folder = mkdtempSync(join(tmpdir(), 'log-'));
      try {
        const path = join(folder, 'deep/log');
        const log = new RotatingLog({ path, maxBytes: 500, maxOldFiles });
        const written = texts.map((text, at) => JSON.stringify({ at, text }));
        for (const line of written) log.write(line);
        log.close();
        const names = readdirSync(join(folder, 'deep')).sort().reverse();
        expect(names.length).toBeLessThanOrEqual(maxOldFiles + 1);
        const files = [...names.filter((name) => name !== 'log'), 'log'];
        const kept = files.map((name) => readFileSync(join(folder, 'deep', name), 'utf8'));
        for (const text of kept) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(500);
        const all = kept.join('').split('\n').slice(0, -1);
        expect(all).toEqual(written.slice(written.length - all.length));
        const isComplete = all.length === written.length;
        expect(isComplete || names.length === maxOldFiles + 1).toBe(true);
      } finally {
        rmSync(folder, { recursive: true });
      }
    }),
  );
});
