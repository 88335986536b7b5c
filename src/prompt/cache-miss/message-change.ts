/** Finds the first message that is not what was sent before; bytes are looked at as a last resort. */
import type { Change } from '../../protocol/model/cache-causes.js';
import { firstDifference } from './cache-break.js';
import { digestOf } from './request-shape.js';

export interface MessageChange {
  /** Counts from 0. */
  readonly index: number;
  readonly change: Change;
  /** In the message; null when only its digest was kept. */
  readonly byte: number | null;
  /** In all messages with a comma between them. */
  readonly byteInAll: number | null;
}

/** Both lists hold the same buffers as far as nothing changed, so that most are never looked into. */
export const messageChange = (
  before: readonly Buffer[],
  now: readonly Buffer[],
): MessageChange | undefined => {
  let passed = 0;
  for (const [index, was] of before.entries()) {
    const is = now[index];
    if (is === undefined) return { index, change: 'removed', byte: 0, byteInAll: passed };
    if (is !== was && !is.equals(was)) {
      const byte = firstDifference(was, is);
      return { index, change: 'changed', byte, byteInAll: passed + byte };
    }
    passed += was.length + 1;
  }
  return undefined;
};

/** The same from what a journal keeps of messages that another process sent. */
export const digestChange = (
  before: readonly string[],
  now: readonly Buffer[],
): MessageChange | undefined => {
  for (const [index, digest] of before.entries()) {
    const is = now[index];
    if (is !== undefined && digestOf(is) === digest) continue;
    const change = is === undefined ? 'removed' : 'changed';
    return { index, change, byte: null, byteInAll: null };
  }
  return undefined;
};
