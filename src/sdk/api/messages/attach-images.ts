/** Attaches images to a prompt that names them by path. */
import { constants, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileKind } from '../../../tools/file-access/file-kind.js';
import { MAX_IMAGE_BYTES } from '../../../tools/file-access/image-size.js';
import type { PromptBlock, PromptContent } from './prompt-content.js';

/** Maximum images of one prompt. */
const MAX_IMAGES = 20;
/** Maximum bytes of all images of a prompt: about 20 MB as base64. The Messages API accepts 32 MB. */
const MAX_TOTAL_BYTES = 15_000_000;

/** A quoted text with or without `@`, or a word in which blanks are escaped, as when a file is dropped. */
const WORD = /@?"([^"\n]+)"|@?'([^'\n]+)'|((?:\\.|[^\s\\"'])+)/g;
const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

/** Returns the absolute paths of images that a text names. The files may not exist. */
export const imagePathsIn = (text: string, cwd: string, home = homedir()): readonly string[] => {
  const paths = new Set<string>();
  for (const [, double, single, plain] of text.matchAll(WORD)) {
    const word = double ?? single ?? plain?.replaceAll(/\\(.)/g, '$1') ?? '';
    const path = word.replace(/^@/, '').replace(/^file:\/\//, '');
    if (!IMAGE.test(path) || path.includes('\0') || path.includes('://')) continue;
    if (path.startsWith('~/')) paths.add(join(home, path.slice(2)));
    else paths.add(isAbsolute(path) ? path : join(cwd, path));
    if (paths.size === MAX_IMAGES) break;
  }
  return [...paths];
};

interface PromptWithImages {
  readonly content: PromptContent;
  /** Paths of the attached images. */
  readonly images: readonly string[];
  /** Sentences about images that exist but cannot be attached. */
  readonly notices: readonly string[];
}

/** Returns the paths of images that would be attached, judged by their sizes only. */
export const imagesToAttach = (text: string, cwd: string, home = homedir()): readonly string[] => {
  let room = MAX_TOTAL_BYTES;
  return imagePathsIn(text, cwd, home).filter((path) => {
    const size = sizeOf(path);
    if (size === undefined || size > MAX_IMAGE_BYTES || size > room) return false;
    room -= size;
    return true;
  });
};

/** Returns undefined if there is no such file. */
const sizeOf = (path: string): number | undefined => {
  try {
    const stat = statSync(path);
    return stat.isFile() ? stat.size : undefined;
  } catch {
    return undefined;
  }
};

/** Reads the images. Ignores paths of missing files, which may be plain words. Never rejects. */
export const attachImages = async (text: string, cwd: string): Promise<PromptWithImages> => {
  const blocks: PromptBlock[] = [];
  const images: string[] = [];
  const notices: string[] = [];
  let room = MAX_TOTAL_BYTES;
  for (const path of imagePathsIn(text, cwd)) {
    const image = await readImage(path, room);
    if (typeof image === 'string') notices.push(image);
    else if (image !== undefined) {
      blocks.push(image.block);
      images.push(path);
      room -= image.size;
    }
  }
  const content = blocks.length === 0 ? text : [{ type: 'text' as const, text }, ...blocks];
  return { content, images, notices };
};

/** Opens without waiting for a pipe, and without making a terminal the controlling terminal. */
const NON_BLOCKING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

interface Image {
  readonly block: PromptBlock;
  readonly size: number;
}

/** Returns a sentence if the image cannot be attached, or undefined if there is no such file. */
const readImage = async (path: string, room: number): Promise<Image | string | undefined> => {
  try {
    const file = await open(path, NON_BLOCKING);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return undefined;
      if (stat.size > MAX_IMAGE_BYTES) return tooLarge(path);
      const bytes = await firstBytes(file, MAX_IMAGE_BYTES + 1);
      if (bytes.length > MAX_IMAGE_BYTES) return tooLarge(path);
      const kind = fileKind(bytes);
      if (kind.kind !== 'image') return `${path} is not an image that the model can see.`;
      if (bytes.length > room) {
        return `${path} is not attached: too many images in one prompt; send it with the next prompt.`;
      }
      const source = { type: 'base64' as const, media_type: kind.mediaType };
      const block = {
        type: 'image' as const,
        source: { ...source, data: bytes.toString('base64') },
      };
      return { block, size: bytes.length };
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : `${path} cannot be read: ${code}.`;
  }
};

const tooLarge = (path: string): string =>
  `${path} is larger than ${(MAX_IMAGE_BYTES / 1_000_000).toFixed(1)} MB, so it is not attached: make it smaller.`;

/** Reads at most `maxBytes` bytes, because a file may grow or have no known size. */
const firstBytes = async (file: FileHandle, maxBytes: number): Promise<Buffer> => {
  const bytes = Buffer.allocUnsafe(maxBytes);
  let size = 0;
  while (size < maxBytes) {
    const { bytesRead } = await file.read(bytes, size, maxBytes - size);
    if (bytesRead === 0) break;
    size += bytesRead;
  }
  return bytes.subarray(0, size);
};
