/** What is known of the sessions in Redis without reading their journals: the same text as in a `session.json`. */
import { randomUUID } from 'node:crypto';
import { UsageError } from '../../../protocol/errors.js';
import type {
  SessionMeta,
  SessionSurvey,
  UnreadableSession,
} from '../../../protocol/session/store.js';
import { isSessionId, parseMeta } from '../../shared/session-meta.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { KEEP_MS, SWARMS, swarmKeys } from '../connection/redis-keys.js';
import { lostTo, type Scope } from '../leases/write-scopes.js';

/** So many are read at once. */
const PIECE = 500;
/** One who asks again after an outage of so long is known again. */
const AGAIN_MS = 10 * 60 * 1_000;
/** What a hint says when it has changed. */
export const META_HINT = 'meta';

/** Rejects with a UsageError when there is such a session. */
export const createMeta = async (broker: RedisConnections, meta: SessionMeta): Promise<void> => {
  const keys = swarmKeys(meta.id);
  const isCreated = await broker.run(
    CREATE,
    [keys.meta, keys.creation],
    [textOf(meta), KEEP_MS, randomUUID(), AGAIN_MS],
  );
  if (isCreated !== 1) {
    throw new UsageError(
      `Session ${meta.id} exists already; continue it with --resume ${meta.id}.`,
    );
  }
  await listMeta(broker, meta);
};

/** Rejects with a UsageError when there is none, or one that cannot be read. */
export const readMeta = async (broker: RedisConnections, id: string): Promise<SessionMeta> => {
  const text = await metaText(broker, id);
  if (text === undefined) throw noSession(id);
  return parseMeta(text, swarmKeys(id).meta);
};

/** Undefined when there is none. What is no text of ours, but another thing, is one that nobody can read. */
const metaText = async (broker: RedisConnections, id: string): Promise<string | undefined> => {
  try {
    const text = await broker.call('GET', swarmKeys(id).meta);
    return typeof text === 'string' ? text : undefined;
  } catch (error) {
    if (!/\bWRONGTYPE\b/.test((error as Error).message)) throw error;
    return '';
  }
};

export const noSession = (id: string): UsageError =>
  new UsageError(`There is no session "${id}"; \`skein sessions --all\` lists them.`);

/** Only for the lead. */
export const writeMeta = async (
  broker: RedisConnections,
  lead: Scope,
  meta: SessionMeta,
): Promise<void> => {
  const keys = swarmKeys(lead.swarm);
  const now = await broker.run(
    UPDATE,
    [keys.scopes, keys.meta],
    [lead.name, lead.claim, textOf(meta), KEEP_MS, keys.hints, META_HINT],
  );
  if (now === lead.claim) return listMeta(broker, meta);
  const why = lostTo(lead, String(now));
  lead.lose(why);
  throw why;
};

/** Has another slot in a cluster than the session itself, so it comes after it. */
export const listMeta = async (
  broker: RedisConnections,
  { id, updatedAt }: SessionMeta,
): Promise<void> => {
  await broker.run(LIST, [SWARMS], [updatedAt, id, KEEP_MS]);
};

/** By swarm, as it is in the list: when it was last changed. */
export const listedChanges = async (
  broker: RedisConnections,
): Promise<ReadonlyMap<string, number>> => {
  const pairs = await broker.call('ZRANGE', SWARMS, 0, -1, 'WITHSCORES');
  // Pairs, or all in a row: that is up to the server.
  const flat = (pairs as string[]).flat();
  const changes = new Map<string, number>();
  for (let at = 0; at < flat.length; at += 2) changes.set(flat[at] ?? '', Number(flat[at + 1]));
  return changes;
};

export const surveyMetas = async (broker: RedisConnections): Promise<SessionSurvey> => {
  const sessions: SessionMeta[] = [];
  const unreadable: UnreadableSession[] = [];
  const listed = [...(await listedChanges(broker))].filter(([id]) => isSessionId(id));
  for (let at = 0; at < listed.length; at += PIECE) {
    const piece = listed.slice(at, at + PIECE);
    const texts = await Promise.all(piece.map(([id]) => metaText(broker, id)));
    for (const [index, [id, updatedAt]] of piece.entries()) {
      const text = texts[index];
      // It has expired, and nobody lists it again.
      if (text === undefined) await broker.call('ZREM', SWARMS, id);
      else {
        const known = knownFrom(id, text);
        if (typeof known === 'string') unreadable.push({ id, reason: known, updatedAt });
        else sessions.push(known);
      }
    }
  }
  return { sessions, unreadable };
};

/** Or why it cannot be read. */
const knownFrom = (id: string, text: string): SessionMeta | string => {
  try {
    const meta = parseMeta(text, swarmKeys(id).meta);
    // Whoever lists it opens it by this id next.
    return meta.id === id ? meta : 'What is known of it is that of another session.';
  } catch (error) {
    return (error as Error).message;
  }
};

const textOf = (meta: SessionMeta): string => JSON.stringify(meta, null, 2);

const CREATE = {
  name: 'skeinCreate',
  lua: `
    if redis.call('GET', KEYS[2]) == ARGV[3] then return 1 end
    if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
    redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
    return 1`,
};

const UPDATE = {
  name: 'skeinUpdate',
  lua: `
    local now = redis.call('HGET', KEYS[1], ARGV[1])
    if now ~= ARGV[2] then return now or '' end
    redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
    redis.call('PUBLISH', ARGV[5], ARGV[6])
    return now`,
};

const LIST = {
  name: 'skeinList',
  lua: `
    redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
    redis.call('PEXPIRE', KEYS[1], ARGV[3])`,
};
