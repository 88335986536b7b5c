/** How a session comes to be: created, taken up again, or begun as a copy of another. */
import { existsSync } from 'node:fs';
import { conversationOf, stepOf } from '../../context/history/conversation.js';
import type { Clock } from '../../protocol/clock.js';
import { UsageError } from '../../protocol/errors.js';
import type { Ids } from '../../protocol/ids.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import type { PromptHead } from '../../protocol/model/prompt.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import {
  SESSION_FORMAT,
  type Session,
  type SessionMeta,
  type SessionStore,
} from '../../protocol/session/store.js';
import { keepHead, readHead } from '../prompt-cache/prompt-head-manager.js';
import { writeCopy } from './copy-session.js';

/** Which session: a new one, a former one, or a new one that begins as a copy of another. */
export type SessionChoice =
  | { readonly kind: 'new'; readonly id?: string }
  | { readonly kind: 'resume'; readonly id: string }
  | { readonly kind: 'fork'; readonly from: string; readonly id?: string };

export interface NewSession {
  readonly cwd: string;
  readonly version: string;
  readonly entrypoint: string;
  readonly title: string;
}

export interface BeginOptions {
  readonly store: SessionStore;
  readonly choice: SessionChoice;
  readonly fresh: NewSession;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Undefined keeps the model that the session has. */
  readonly modelName: string | undefined;
  readonly defaultModel: string;
  /** Makes the prompt of a new session; a former one keeps its own (law 3). */
  readonly briefing: ContextProvider;
}

/** A session that this process now owns, with what its lead is to say first. */
export interface BegunSession {
  readonly session: Session;
  readonly model: string;
  readonly head: PromptHead;
  /** All that the lead's journal holds. */
  readonly past: readonly JournalRecord[];
}

export const beginSession = (options: BeginOptions): Promise<BegunSession> => {
  switch (options.choice.kind) {
    case 'new':
      return createNew(options, options.choice.id);
    case 'resume':
      return resume(options, options.choice.id);
    case 'fork':
      return fork(options, options.choice.from, options.choice.id);
  }
};

const createNew = async (options: BeginOptions, id: string | undefined): Promise<BegunSession> => {
  const model = options.modelName ?? options.defaultModel;
  const { cwd } = options.fresh;
  const meta = metaOf(options, id, { cwd, model, parentId: null, title: options.fresh.title });
  const session = await options.store.create(meta);
  try {
    return await layBeginning(options, session);
  } catch (error) {
    await session.close();
    throw error;
  }
};

const layBeginning = async (options: BeginOptions, session: Session): Promise<BegunSession> => {
  const { lead, cwd, model, version, entrypoint } = session.meta;
  const head = await options.briefing.head({ cwd, model, version, entrypoint });
  const prompt = await keepHead(session, head);
  const journal = await session.journal(lead, null);
  const created = { type: 'agent.created', agent: lead, parent: null, cwd, model, prompt } as const;
  return { session, model, head, past: [journal.append(created)] };
};

const resume = async (options: BeginOptions, id: string): Promise<BegunSession> => {
  const session = await options.store.open(id);
  try {
    refuseWithoutDirectory(session.meta);
    const { records } = (await session.journal(session.meta.lead, null)).past;
    const created = records.find(({ type }) => type === 'agent.created');
    // It was killed before its first record: nothing had been said, so it begins now.
    if (created?.type !== 'agent.created') return await layBeginning(options, session);
    const head = await readHead(newestPrompt(records) ?? created.prompt, (name) =>
      session.readArtifact(name),
    );
    const model = options.modelName ?? session.meta.model;
    await session.updateMeta({ model, updatedAt: options.clock.now() });
    return { session, head, model, past: records };
  } catch (error) {
    await session.close();
    throw error;
  }
};

/** A new session whose journal begins with the records of another: the same bytes, a new owner. */
const fork = async (
  options: BeginOptions,
  from: string,
  id: string | undefined,
): Promise<BegunSession> => {
  const { store } = options;
  const source = (await store.list()).find((meta) => meta.id === from);
  if (source === undefined) throw new UsageError(`There is no session "${from}".`);
  refuseWithoutDirectory(source);
  const { records } = await store.peek(from, source.lead);
  const { cwd, model, title } = source;
  const meta = metaOf(options, id, { cwd, model, title, parentId: from });
  const session = await store.create({ ...meta, lead: source.lead });
  for (const record of records) {
    if (!('prompt' in record) || record.prompt === undefined) continue;
    await session.putArtifact(record.prompt, await store.peekArtifact(from, record.prompt));
  }
  const journal = await session.journal(source.lead, null);
  writeCopy(journal, records, { session: from, agent: source.lead });
  await session.close();
  return resume(options, meta.id);
};

const metaOf = (
  { fresh, ids, clock }: BeginOptions,
  id: string | undefined,
  known: Pick<SessionMeta, 'cwd' | 'model' | 'parentId' | 'title'>,
): SessionMeta => {
  const now = clock.now();
  return {
    format: SESSION_FORMAT,
    id: id ?? ids('session'),
    lead: ids('agent'),
    createdAt: now,
    updatedAt: now,
    version: fresh.version,
    entrypoint: fresh.entrypoint,
    ...known,
  };
};

const refuseWithoutDirectory = ({ id, cwd }: SessionMeta): void => {
  if (!existsSync(cwd)) {
    throw new UsageError(
      `Session ${id} works in ${cwd}, which does not exist any more; restore the directory to resume it.`,
    );
  }
};

/** What stands ahead of the messages may have been replaced on the way. */
export const newestPrompt = (records: readonly JournalRecord[]): string | undefined => {
  const counts = conversationOf(records.map(stepOf));
  return records
    .filter(({ seq }) => counts.has(seq))
    .flatMap((record) => (record.type === 'prompt.broken' && record.prompt) || [])
    .at(-1);
};
