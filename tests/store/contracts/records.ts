/** Session meta data and records for the contracts of stores. */
import type { Clock } from '../../../src/protocol/clock.js';
import type { JournalBody } from '../../../src/protocol/session/journal-record.js';
import type { SessionMeta, SessionStore } from '../../../src/protocol/session/session-store.js';

/** Opens an empty store for an owner that is alive. */
export type OpenStore = (clock: Clock) => SessionStore | Promise<SessionStore>;

export const meta = (change: Partial<SessionMeta> = {}): SessionMeta => ({
  format: 1,
  id: 's_1',
  cwd: '/work',
  createdAt: 1,
  updatedAt: 1,
  lead: 'a_1',
  model: 'm',
  version: '0.1.0',
  entrypoint: 'cli',
  parentId: null,
  title: 'Hello',
  ...change,
});

export const created: JournalBody = {
  type: 'agent.created',
  agent: 'a_1',
  parent: null,
  cwd: '/work',
  model: 'm',
  prompt: 'p',
};

export const letter = (id: string, text = 'Hello'): JournalBody => ({
  type: 'letter.received',
  letter: id,
  from: 'user',
  raw: JSON.stringify([{ type: 'text', text }]),
});

export const createdFor = (agent: string, parent: string | null = null): JournalBody =>
  ({ ...created, agent, parent }) as JournalBody;

export const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
};
