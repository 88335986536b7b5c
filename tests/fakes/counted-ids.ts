import type { IdKind, Ids } from '../../src/protocol/ids.js';

/** Ids that count up per kind, so that two runs of a script use the same ids (law 13). */
export const countedIds = (): Ids => {
  const counts = new Map<IdKind, number>();
  return (kind) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return `${kind[0]}_${count}`;
  };
};
