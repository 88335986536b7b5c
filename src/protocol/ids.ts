/** Ids of sessions, agents, letters, questions, owners and events. The only importer of nanoid. */
import { customAlphabet } from 'nanoid';

export type Ids = (kind: IdKind) => string;
export type IdKind = 'session' | 'agent' | 'letter' | 'question' | 'owner' | 'event';

// No look-alikes and no punctuation, because people type prefixes of ids.
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
