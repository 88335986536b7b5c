/** Where identifiers come from: random in production, counted in tests. The one importer of nanoid. */
import { customAlphabet } from 'nanoid';

export type Ids = (kind: IdKind) => string;
export type IdKind = 'session' | 'agent' | 'letter' | 'question' | 'owner' | 'event';

// No look-alikes and no punctuation: people type prefixes of these.
const draw = customAlphabet('23456789abcdefghjkmnpqrstuvwxyz', 16);

const PREFIX: Record<IdKind, string> = {
  session: 's',
  agent: 'a',
  letter: 'l',
  question: 'q',
  owner: 'o',
  event: 'e',
};

export const randomIds: Ids = (kind) => `${PREFIX[kind]}_${draw()}`;

/** Ids that count up per kind, so that two runs of one script name everything alike (law 13). */
export const countedIds = (): Ids => {
  const counts = new Map<IdKind, number>();
  return (kind) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return `${PREFIX[kind]}_${count}`;
  };
};
