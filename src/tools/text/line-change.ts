/** Line change of a replacement as figures and a digest, so that events need not hold the text. */
import { createHash } from 'node:crypto';

interface LineChange {
  readonly added: number;
  readonly removed: number;
  /** SHA-256 of the changed lines, old then new, in hex. */
  readonly digest: string;
}

export const lineChange = (before: string, after: string): LineChange => {
  const { removed, added } = differing(before, after);
  const diff = [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
  return {
    added: added.length,
    removed: removed.length,
    digest: createHash('sha256').update(diff.join('\n')).digest('hex'),
  };
};

/** Returns the first and the last changed line of `after`, counted from 1. */
export const changedLines = (before: string, after: string) => {
  const { head, added } = differing(before, after);
  return { first: head + 1, last: head + Math.max(1, added.length) };
};

const differing = (before: string, after: string) => {
  const old = before.split('\n');
  const next = after.split('\n');
  const shorter = Math.min(old.length, next.length);
  let head = 0;
  while (head < shorter && old[head] === next[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1;
  return {
    head,
    removed: old.slice(head, old.length - tail),
    added: next.slice(head, next.length - tail),
  };
};
