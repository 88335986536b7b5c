import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  attachImages,
  imagePathsIn,
  imagesToAttach,
} from '../../../../src/sdk/api/messages/attach-images.js';

/** Image of one dark pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('images that a prompt names', () => {
  test.each([
    ['a path', 'look at /tmp/a.png', ['/tmp/a.png']],
    ['a file of this directory', 'see shot.PNG please', ['/here/shot.PNG']],
    ['a mention', 'see @img/a.jpg', ['/here/img/a.jpg']],
    ['a file of the home directory', '~/a.webp', ['/home/me/a.webp']],
    ['escaped blanks, like a dropped file', '/tmp/my\\ shot.png', ['/tmp/my shot.png']],
    ['quotes', "'/tmp/my shot.gif'", ['/tmp/my shot.gif']],
    ['a mention in quotes', 'see @"my shot.png" now', ['/here/my shot.png']],
    ['a mention with escapes', 'see @a\\ \\"b\\".png', ['/here/a "b".png']],
    ['a file URL', 'file:///tmp/a.jpeg', ['/tmp/a.jpeg']],
    ['the same twice', 'a.png a.png', ['/here/a.png']],
    ['a page', 'https://example.com/a.png', []],
    ['other files', 'src/a.ts png', []],
  ])('are found as %s', (_, text, paths) => {
    expect(imagePathsIn(text, '/here', '/home/me')).toEqual(paths);
  });

  test('are attached after the text', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'images-'));
    writeFileSync(join(folder, 'a.png'), PNG);
    const { content, images, notices } = await attachImages('see a.png and gone.png', folder);
    expect(content).toEqual([
      { type: 'text', text: 'see a.png and gone.png' },
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') },
      },
    ]);
    expect(images).toEqual([join(folder, 'a.png')]);
    expect(notices).toEqual([]);
  });

  test('are plain words if there is no such file', async () => {
    expect(await attachImages('see gone.png', '/nowhere')).toEqual({
      content: 'see gone.png',
      images: [],
      notices: [],
    });
  });

  test('are refused with a notice if they are not images', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'images-'));
    writeFileSync(join(folder, 'a.png'), 'not an image');
    writeFileSync(join(folder, 'b.png'), Buffer.alloc(5_000_000));
    const { content, notices } = await attachImages('a.png b.png', folder);
    expect(content).toBe('a.png b.png');
    expect(notices).toEqual([
      `${join(folder, 'a.png')} is not an image that the model can see.`,
      `${join(folder, 'b.png')} is larger than 3.9 MB, so it is not attached: make it smaller.`,
    ]);
  });

  test('are plain words if the path is a pipe', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'images-'));
    execFileSync('mkfifo', [join(folder, 'pipe.png')]);
    const shown = attachImages('look at pipe.png', folder);
    const late = new Promise((resolve) => setTimeout(resolve, 2_000, 'blocked'));
    const first = await Promise.race([shown, late]);
    // A reader that waits for a writer would keep this process alive.
    if (first === 'blocked') writeFileSync(join(folder, 'pipe.png'), '');
    expect(first).toEqual({ content: 'look at pipe.png', images: [], notices: [] });
  });

  test('are limited to the size of one request, and the others are named', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'images-'));
    const large = Buffer.concat([PNG, Buffer.alloc(3_800_000)]);
    const names = ['a.png', 'b.png', 'c.png', 'd.png', 'e.png'];
    for (const name of names) writeFileSync(join(folder, name), large);
    writeFileSync(join(folder, 'small.png'), PNG);
    const text = [...names, 'small.png'].join(' ');
    const { content, images, notices } = await attachImages(text, folder);
    const shown = ['a.png', 'b.png', 'c.png', 'small.png'].map((name) => join(folder, name));
    expect(images).toEqual(shown);
    expect(content).toHaveLength(1 + shown.length);
    expect(notices).toEqual(
      ['d.png', 'e.png'].map(
        (name) =>
          `${join(folder, name)} is not attached: too many images in one prompt; send it with the next prompt.`,
      ),
    );
    expect(imagesToAttach(text, folder)).toEqual(shown);
  });

  test('are announced only if they exist and are not too large', () => {
    const folder = mkdtempSync(join(tmpdir(), 'images-'));
    writeFileSync(join(folder, 'a.png'), PNG);
    writeFileSync(join(folder, 'b.png'), Buffer.alloc(5_000_000));
    mkdirSync(join(folder, 'c.png'));
    expect(imagesToAttach('a.png b.png c.png gone.png', folder)).toEqual([join(folder, 'a.png')]);
  });
});
