/** Metadata of sessions in Redis, with the same text as `session.json`. */
import { randomUUID } from 'node:crypto';
import type {
  SessionMeta,
  SessionSurvey,
  UnreadableSession,
} from '../../../protocol/session/session-store.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { isSessionId } from '../../shared/check-session-id.js';
import { parseSessionMeta } from '../../shared/parse-session-meta.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { KEEP_MS, SWARMS, swarmKeys } from '../connection/swarm-keys.js';
import { type Scope, scopeLost } from '../leases/write-scopes.js';

/** Number of sessions that a step reads. */
const BATCH = 500;
/** Milliseconds for which a repeated `create` of the same process is recognised. */
const CREATION_MS = 10 * 60 * 1_000;
/** Change hint for changed metadata. */
export const META_HINT = 'meta';

/** Rejects with UsageError if the session exists. */
const create = async (redis: RedisConnections, meta: SessionMeta): Promise<void> => {
  const keys = swarmKeys(meta.id);
  const isCreated = await redis.run(
    CREATE,
    [keys.meta, keys.creation],
    [textOf(meta), KEEP_MS, randomUUID(), CREATION_MS],
  );
  if (isCreated !== 1) {
    throw new UsageError(
      `Session ${meta.id} exists already; continue it with --resume ${meta.id}.`,
    );
  }
  await list(redis, meta);
};

/** Rejects with UsageError if the session does not exist or cannot be read. */
const read = async (redis: RedisConnections, id: string): Promise<SessionMeta> => {
  const text = await metaText(redis, id);
  if (text === undefined) throw noSession(id);
  return parseSessionMeta(text, swarmKeys(id).meta);
};

/** Returns undefined if the key is missing, and an empty text if its value is not a string. */
const metaText = async (redis: RedisConnections, id: string): Promise<string | undefined> => {
  try {
    const text = await redis.call('GET', swarmKeys(id).meta);
    return typeof text === 'string' ? text : undefined;
  } catch (error) {
    if (!/\bWRONGTYPE\b/.test((error as Error).message)) throw error;
    return '';
  }
};

export const noSession = (id: string): UsageError =>
  new UsageError(`There is no session "${id}"; \`skein sessions --all\` lists them.`);

/** Writes the metadata under the lead's scope. Rejects with StorageError if the scope is lost. */
const write = async (redis: RedisConnections, lead: Scope, meta: SessionMeta): Promise<void> => {
  const keys = swarmKeys(lead.swarm);
  const currentClaim = await redis.run(
    UPDATE,
    [keys.scopes, keys.meta],
    [lead.name, lead.claim, textOf(meta), KEEP_MS, keys.hints, META_HINT],
  );
  if (currentClaim === lead.claim) return list(redis, meta);
  const why = scopeLost(lead, String(currentClaim));
  lead.lose(why);
  throw why;
};

/**
 * Adds the session to the list of all sessions. A second step, because the list is in another
 * cluster slot.
 */
const list = async (redis: RedisConnections, { id, updatedAt }: SessionMeta): Promise<void> => {
  await redis.run(LIST, [SWARMS], [updatedAt, id, KEEP_MS]);
};

/** Returns the time of the last change by swarm, as in the list of all sessions. */
export const listedSwarms = async (
  redis: RedisConnections,
): Promise<ReadonlyMap<string, number>> => {
  const pairs = await redis.call('ZRANGE', SWARMS, 0, -1, 'WITHSCORES');
  // Servers reply with pairs or with a flat list.
  const flat = (pairs as string[]).flat();
  const changes = new Map<string, number>();
  for (let at = 0; at < flat.length; at += 2) changes.set(flat[at] ?? '', Number(flat[at + 1]));
  return changes;
};

const survey = async (redis: RedisConnections): Promise<SessionSurvey> => {
  const sessions: SessionMeta[] = [];
  const unreadable: UnreadableSession[] = [];
  const listed = [...(await listedSwarms(redis))].filter(([id]) => isSessionId(id));
  for (let at = 0; at < listed.length; at += BATCH) {
    const batch = listed.slice(at, at + BATCH);
    const texts = await Promise.all(batch.map(([id]) => metaText(redis, id)));
    for (const [index, [id, updatedAt]] of batch.entries()) {
      const text = texts[index];
      // The session has expired.
      if (text === undefined) await redis.call('ZREM', SWARMS, id);
      else {
        const meta = parseMeta(id, text);
        if (typeof meta === 'string') unreadable.push({ id, reason: meta, updatedAt });
        else sessions.push(meta);
      }
    }
  }
  return { sessions, unreadable };
};

/** Returns the metadata, or a sentence that says why it cannot be read. */
const parseMeta = (id: string, text: string): SessionMeta | string => {
  try {
    const meta = parseSessionMeta(text, swarmKeys(id).meta);
    // Callers open a listed session by this id.
    return meta.id === id ? meta : 'Its metadata belongs to another session.';
  } catch (error) {
    return (error as Error).message;
  }
};

export const swarmMeta = { create, read, write, list, survey };

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
