/** Images that a prompt names by their paths: the model sees them, behind the words. */
import { constants, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileKind } from '../../../tools/files/file-kind.js';
import { LARGEST_IMAGE } from '../../../tools/files/image-size.js';
import type { PromptBlock, PromptContent } from './prompt-blocks.js';

/** More than anybody means to show at once. */
const MOST_IMAGES = 20;
/** Of all images of one prompt: as base64 about 20 MB, and the Messages API takes requests of 32 MB. */
const MOST_BYTES = 15_000_000;

/** A word, something in quotes with or without an at sign, or words whose blanks are escaped as terminals do when a file is dropped on them. */
const WORDS = /@?"([^"\n]+)"|@?'([^'\n]+)'|((?:\\.|[^\s\\"'])+)/g;
const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

/** The paths of images that a text names, as they would be opened; whether they are there is not looked at. */
export const imagePathsIn = (text: string, cwd: string, home = homedir()): readonly string[] => {
  const paths = new Set<string>();
  for (const [, double, single, plain] of text.matchAll(WORDS)) {
    const word = double ?? single ?? plain?.replaceAll(/\\(.)/g, '$1') ?? '';
    const path = word.replace(/^@/, '').replace(/^file:\/\//, '');
    if (!IMAGE.test(path) || path.includes('\0') || path.includes('://')) continue;
    if (path.startsWith('~/')) paths.add(join(home, path.slice(2)));
    else paths.add(isAbsolute(path) ? path : join(cwd, path));
    if (paths.size === MOST_IMAGES) break;
  }
  return [...paths];
};

export interface PromptWithImages {
  readonly content: PromptContent;
  /** The paths of those that go along. */
  readonly images: readonly string[];
  /** Sentences about those that are there and cannot go along. */
  readonly notices: readonly string[];
}

/** Those that would go along, as far as their sizes tell. */
export const imagesToShow = (text: string, cwd: string, home = homedir()): readonly string[] => {
  let room = MOST_BYTES;
  return imagePathsIn(text, cwd, home).filter((path) => {
    const size = sizeOf(path);
    if (size === undefined || size > LARGEST_IMAGE || size > room) return false;
    room -= size;
    return true;
  });
};

/** Undefined when there is no such file. */
const sizeOf = (path: string): number | undefined => {
  try {
    const stat = statSync(path);
    return stat.isFile() ? stat.size : undefined;
  } catch {
    return undefined;
  }
};

/** A path where there is nothing is only a word. Never rejects. */
export const withImages = async (text: string, cwd: string): Promise<PromptWithImages> => {
  const blocks: PromptBlock[] = [];
  const images: string[] = [];
  const notices: string[] = [];
  let room = MOST_BYTES;
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

/** A pipe that is named like an image would be waited for, and a terminal would become ours. */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

interface Image {
  readonly block: PromptBlock;
  readonly size: number;
}

/** A sentence when it cannot be shown, undefined when there is no such file. */
const readImage = async (path: string, room: number): Promise<Image | string | undefined> => {
  try {
    const file = await open(path, READ_AT_ONCE);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return undefined;
      if (stat.size > LARGEST_IMAGE) return tooLarge(path);
      const bytes = await firstBytes(file, LARGEST_IMAGE + 1);
      if (bytes.length > LARGEST_IMAGE) return tooLarge(path);
      const kind = fileKind(bytes);
      if (kind.kind !== 'image') return `${path} is not an image that can be shown.`;
      if (bytes.length > room) {
        return `${path} is not shown: too many images at once; send it with the next prompt.`;
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
  `${path} is larger than ${(LARGEST_IMAGE / 1_000_000).toFixed(1)} MB, so it is not shown: make it smaller.`;

/** A file may grow while it is read, or say nothing of its size. */
const firstBytes = async (file: FileHandle, most: number): Promise<Buffer> => {
  const bytes = Buffer.allocUnsafe(most);
  let size = 0;
  while (size < most) {
    const { bytesRead } = await file.read(bytes, size, most - size);
    if (bytesRead === 0) break;
    size += bytesRead;
  }
  return bytes.subarray(0, size);
};
