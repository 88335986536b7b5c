/** Creates, resumes or forks a session, up to the first record of its lead. */
import { existsSync } from 'node:fs';
import type { Clock } from '../../protocol/clock.js';
import type { Ids } from '../../protocol/ids.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import type { PromptHead } from '../../protocol/model/prompt-head.js';
import type { JournalContents } from '../../protocol/session/journal.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import {
  SESSION_FORMAT,
  type SessionMeta,
  type SessionStore,
} from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import { JournaledState } from '../agent/journaled-state.js';
import { newestPrompt, readHead, storeHead } from '../prompt-cache/prompt-head-manager.js';
import { copySession } from './copy-session.js';

/** Session to open: a new session, an existing session, or a copy of another session. */
export type SessionChoice =
  | { readonly kind: 'new'; readonly id?: string }
  | { readonly kind: 'resume'; readonly id: string }
  | { readonly kind: 'fork'; readonly from: string; readonly id?: string };

interface NewSession {
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
  /** Undefined: the model of the existing session, or `defaultModel`. */
  readonly modelName: string | undefined;
  readonly defaultModel: string;
  /** Builds the prompt head of a new session. An existing session keeps its head (law 3). */
  readonly contextProvider: ContextProvider;
}

/** A session that this process now owns, with the prompt head and the state of its lead. */
export interface BegunSession {
  readonly session: OwnedSession;
  readonly model: string;
  readonly head: PromptHead;
  readonly journal: JournaledState;
  /** Records of the lead before this process wrote any. A new session has the first record. */
  readonly past: readonly JournalRecord[];
  /** Sentences about damage of the session, with file and line. */
  readonly damage: readonly string[];
  /** Number of records of the lead that the store has lost, if the lead does not know of it yet. */
  readonly lostRecords?: number | undefined;
}

/** Rejects with UsageError or StorageError; then the session is closed again. */
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
    return await writeFirstRecord(options, session);
  } catch (error) {
    await session.close();
    throw error;
  }
};

const writeFirstRecord = async (
  options: BeginOptions,
  session: OwnedSession,
  source?: JournalContents,
): Promise<BegunSession> => {
  const { lead, cwd, model, version, entrypoint } = session.meta;
  const head = await options.contextProvider.head({ cwd, model, version, entrypoint });
  const prompt = await storeHead(session, head);
  const journal = await session.journal(lead, null);
  const created = { type: 'agent.created', agent: lead, parent: null, cwd, model, prompt } as const;
  // A damaged journal may have later records although it has lost the first record.
  const { records } = journal.past;
  const past = [...records, journal.append(created)];
  return begun(options, { session, model, head, past }, source);
};

/**
 * Folds the records of the lead, and repairs them if records were lost. `source` is the journal that
 * the records were copied from.
 */
const begun = async (
  { ids }: BeginOptions,
  opened: Pick<BegunSession, 'session' | 'model' | 'head' | 'past'>,
  source?: JournalContents,
): Promise<BegunSession> => {
  const { session, past } = opened;
  const { meta } = session;
  const log = await session.journal(meta.lead, null);
  const journal = new JournaledState(log, past);
  const path = session.journalFile(meta.lead) ?? `The journal of ${meta.lead}`;
  const { lost } = log.past;
  const damage = [
    ...(session.damage ?? []),
    ...log.past.damage,
    ...(source?.damage ?? []),
    ...(isEmptied(meta, log.past)
      ? [`${path}:1: the journal is empty, so the conversation is lost`]
      : []),
  ];
  const isLost =
    lost !== undefined || (source?.damage.length ?? 0) > 0 || isEmptied(meta, log.past);
  if (!isLost && !journal.history.isInconsistent) return { ...opened, journal, damage };
  const { repairJournal } = await import('../agent/repair-journal.js');
  const contents = { damage, lost: lost ?? [] };
  return { ...opened, journal, damage: repairJournal(journal, contents, ids, path, isLost) };
};

/** True if the session was used before and no record is left, not even in the event index. */
const isEmptied = (
  { createdAt, updatedAt }: SessionMeta,
  { records, lost }: JournalContents,
): boolean => records.length === 0 && lost === undefined && updatedAt !== createdAt;

const resume = async (
  options: BeginOptions,
  id: string,
  source?: JournalContents,
): Promise<BegunSession> => {
  const session = await options.store.open(id);
  try {
    refuseWithoutDirectory(session.meta);
    const { records } = (await session.journal(session.meta.lead, null)).past;
    const created = records.find(({ type }) => type === 'agent.created');
    // The process died before the first record of the lead, so the session starts now.
    if (created?.type !== 'agent.created') return await writeFirstRecord(options, session, source);
    const head = await readHead(newestPrompt(records) ?? created.prompt, (name) =>
      session.readArtifact(name),
    );
    const model = options.modelName ?? session.meta.model;
    await session.updateMeta({ model, updatedAt: options.clock.now() });
    const resumed = await begun(options, { session, head, model, past: records }, source);
    const { journal } = resumed;
    if (session.losses !== undefined) {
      const { recordCopiedLoss } = await import('../agent/record-loss.js');
      await recordCopiedLoss(session, session.meta.lead, journal, options.ids, 'lead');
    }
    const { lostRecords, letters } = journal.history;
    return { ...resumed, lostRecords: letters.hasUrgent ? lostRecords : undefined };
  } catch (error) {
    await session.close();
    throw error;
  }
};

/** Creates a session with a copy of the records of another session. */
const fork = async (
  options: BeginOptions,
  from: string,
  id: string | undefined,
): Promise<BegunSession> => {
  const { store } = options;
  const source = (await store.list()).find((meta) => meta.id === from);
  if (source === undefined) throw new UsageError(`There is no session "${from}".`);
  refuseWithoutDirectory(source);
  const contents = await store.readJournal(from, source.lead);
  const { records } = contents;
  const { cwd, model, title } = source;
  const meta = metaOf(options, id, { cwd, model, title, parentId: from });
  const session = await store.create({ ...meta, lead: source.lead });
  for (const record of records) {
    if (!('prompt' in record) || record.prompt === undefined) continue;
    await session.putArtifact(record.prompt, await store.readArtifact(from, record.prompt));
  }
  const journal = await session.journal(source.lead, null);
  copySession(journal, records, { session: from, agent: source.lead });
  await session.close();
  return resume(options, meta.id, contents);
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
      `Session ${id} works in ${cwd}, which no longer exists; restore the directory to resume it.`,
    );
  }
};
