/** Finds the first message change: a message whose bytes differ from the previous request. */
import type { PartChange } from '../../protocol/model/cache-causes.js';
import { firstDifference } from './request-difference.js';
import { shapeDigest } from './request-shape.js';

export interface MessageChange {
  /** Index of the message, from 0. */
  readonly index: number;
  readonly change: PartChange;
  /** Offset in the message; null if only its digest was kept. */
  readonly byte: number | null;
  /** Offset in all messages joined by commas; null if unknown. */
  readonly byteInAll: number | null;
}

/** Compares buffers by identity first, because unchanged messages share their buffers. */
export const messageChange = (
  before: readonly Buffer[],
  now: readonly Buffer[],
): MessageChange | undefined => {
  let passed = 0;
  for (const [index, old] of before.entries()) {
    const current = now[index];
    if (current === undefined) return { index, change: 'removed', byte: 0, byteInAll: passed };
    if (current !== old && !current.equals(old)) {
      const byte = firstDifference(old, current);
      return { index, change: 'changed', byte, byteInAll: passed + byte };
    }
    passed += old.length + 1;
  }
  return undefined;
};

/** Compares with the digests in a journal, for messages that another process sent. */
export const digestChange = (
  before: readonly string[],
  now: readonly Buffer[],
): MessageChange | undefined => {
  for (const [index, digest] of before.entries()) {
    const is = now[index];
    if (is !== undefined && shapeDigest(is) === digest) continue;
    const change = is === undefined ? 'removed' : 'changed';
    return { index, change, byte: null, byteInAll: null };
  }
  return undefined;
};
