import { describe, expect, test } from 'vitest';
import { readFile } from '../../../src/tools/files/read-file.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { toolContext } from '../tool-context.js';

const read = async (
  content: string | Uint8Array,
  page: { offset?: number; limit?: number } = {},
) => {
  const context = toolContext(memoryWorkspace({ '/work/a.txt': content }));
  return readFile.call({ file_path: 'a.txt', ...page }, context);
};

const text = async (...args: Parameters<typeof read>) => (await read(...args)).content as string;

const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03', 'latin1');
const jpeg = Buffer.from(
  '\xff\xd8\xff\xe0\0\x04\0\0\xff\xc0\0\x0b\x08\0\x03\0\x02\x01\x01\x11\0',
  'latin1',
);
const gif = Buffer.from('GIF89a\x02\0\x03\0', 'latin1');
const webp = Buffer.from(`RIFF\0\0\0\0WEBPVP8X${'\0'.repeat(14)}`, 'latin1');

describe('Read', () => {
  test('numbers the lines, without an empty line after the final line break', async () => {
    expect(await text('one\ntwo\n')).toBe('     1\tone\n     2\ttwo');
  });

  test('does not show carriage returns or the byte order mark', async () => {
    expect(await text('\ufeffone\r\ntwo')).toBe('     1\tone\n     2\ttwo');
  });

  test('starts at the offset, and treats 0 as the start', async () => {
    expect(await text('a\nb\nc\n', { offset: 2 })).toBe('     2\tb\n     3\tc');
    expect(await text('a\n', { offset: 0 })).toBe('     1\ta');
  });

  test('returns the offset to continue if lines are left', async () => {
    expect(await text('a\nb\nc\n', { limit: 2 })).toContain(
      '[Lines 1 to 2 of 3. Read on with offset 3.]',
    );
  });

  test('shows 2000 lines by default', async () => {
    const shown = await text('x\n'.repeat(2500));
    expect(shown).toContain('  2000\tx');
    expect(shown).toContain('Lines 1 to 2000 of 2500');
  });

  test('is limited in characters, and continues from there', async () => {
    const shown = await text(`${'x'.repeat(1999)}\n`.repeat(200));
    expect(shown.length).toBeLessThan(101_000);
    const [, next] = /Read on with offset (\d+)/.exec(shown) ?? [];
    const rest = await text(`${'x'.repeat(1999)}\n`.repeat(200), { offset: Number(next) });
    expect(rest).toMatch(new RegExp(`^ +${next}\tx`));
  });

  test('cuts a very long line between characters, with the number of omitted characters', async () => {
    const shown = await text('😀'.repeat(5_000));
    expect(shown).toContain('… [8000 more characters in this line]');
    expect(shown).not.toMatch(/\p{Surrogate}/u);
  });

  test('reports an empty file', async () => {
    expect(await text('')).toBe('/work/a.txt is empty.');
  });

  test('refuses an offset past the end, with the number of lines', async () => {
    await expect(read('a\nb\n', { offset: 3 })).rejects.toThrow('has 2 lines');
  });

  test.each([
    ['bytes with NUL', Buffer.from('a\0b'), 'binary data, 3 bytes'],
    ['invalid UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'not valid UTF-8'],
    ['UTF-16', Buffer.from('\ufeffhello', 'utf16le'), 'UTF-16 text'],
    ['an executable', Buffer.from('\x7fELF\x02\x01', 'latin1'), 'ELF executable'],
    ['a PDF', Buffer.from('%PDF-1.7'), 'PDF document'],
  ])('names %s instead of showing its content', async (_, bytes, guess) => {
    expect(await text(bytes)).toContain(guess);
  });

  test.each([
    ['image/png', png],
    ['image/jpeg', jpeg],
    ['image/gif', gif],
    ['image/webp', webp],
  ])('shows %s as an image', async (media_type, bytes) => {
    const data = bytes.toString('base64');
    expect((await read(bytes)).content).toEqual([
      { type: 'image', source: { type: 'base64', media_type, data } },
    ]);
  });

  test.each([
    ['image/png', png.subarray(0, 8)],
    ['image/png', Buffer.concat([png.subarray(0, 16), Buffer.alloc(8)])],
    ['image/jpeg', jpeg.subarray(0, 12)],
    ['image/gif', Buffer.from('GIF89a')],
    ['image/webp', webp.subarray(0, 16)],
  ])('names a broken %s instead of sending it', async (media_type, bytes) => {
    expect(await text(bytes)).toContain(`${media_type} with a broken header`);
  });

  test('does not show an image above the size limit', async () => {
    expect(await text(Buffer.concat([png, Buffer.alloc(4_000_000)]))).toContain('smaller copy');
  });

  test('records the stamp of the whole file if it shows only a part', async () => {
    const { notes } = await read('a\nb\nc\n', { offset: 2, limit: 1 });
    expect(notes).toMatchObject([{ type: 'file.seen', path: '/work/a.txt', stamp: { size: 6 } }]);
  });

  test.each([
    ['a directory', 'src', 'is a directory'],
    ['a missing file', 'nope', 'There is no file at /work/nope'],
    ['a path with NUL', 'a\0b', 'NUL'],
  ])('refuses %s with advice', async (_, file_path, reason) => {
    const context = toolContext(memoryWorkspace({ '/work/src/a.ts': '' }));
    await expect(readFile.call({ file_path }, context)).rejects.toThrow(reason);
  });

  test('refuses a huge file and suggests Bash', async () => {
    await expect(read(Buffer.alloc(65 * 1024 * 1024))).rejects.toThrow('with Bash');
  });

  test.each([
    ['a negative offset', { file_path: 'a', offset: -1 }],
    ['a number as text', { file_path: 'a', limit: '5' }],
    ['a limit of zero', { file_path: 'a', limit: 0 }],
    ['an unknown key', { file_path: 'a', pages: '1' }],
    ['an empty path', { file_path: '' }],
  ])('does not accept %s', (_, input) => {
    expect(readFile.input.safeParse(input).success).toBe(false);
  });
});
