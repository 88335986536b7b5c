/**
 * Redis keys as text: each stored key has the commands that restore it. Commands work with every version of Redis,
 * whereas a server refuses RDB files and DUMP payloads of a newer version.
 */
import { connectRedis } from '../../src/store/redis/connection/redis-connections.js';

/** A value of Redis: text, or bytes that are not UTF-8. */
type Value = string | { readonly base64: string };

export interface StoredKey {
  readonly key: string;
  readonly commands: readonly Command[];
}

/** A command with its arguments. */
type Command = readonly [string, ...Value[]];

type Reply = Buffer | readonly (Buffer | number)[];

type Call = (command: string, ...args: readonly (string | Buffer)[]) => Promise<unknown>;

/** Keys that expire sooner are left out: leases, heart-beats and requests in flight. */
const SHORT_LIFE_MS = 60_000;

export const readRedisState = (url: string): Promise<readonly StoredKey[]> =>
  connected(url, async (call) => {
    const names = (await call('KEYS', '*')) as readonly Buffer[];
    const stored: StoredKey[] = [];
    for (const key of names.map(String).sort()) {
      const lifeMs = Number(await call('PTTL', key));
      if (lifeMs >= 0 && lifeMs < SHORT_LIFE_MS) continue;
      const commands = [...(await commandsFor(call, key))];
      if (lifeMs >= 0) commands.push(['PEXPIRE', key, String(lifeMs)]);
      stored.push({ key, commands });
    }
    return stored;
  });

/** Writes the keys to an empty Redis. Times to live start again. */
export const writeRedisState = (url: string, state: readonly StoredKey[]): Promise<void> =>
  connected(url, async (call) => {
    for (const { commands } of state) {
      for (const [command, ...args] of commands) await call(command, ...args.map(raw));
    }
  });

const connected = async <Result>(url: string, work: (call: Call) => Promise<Result>) => {
  const redis = await connectRedis(url);
  try {
    const connection = redis.connection('commands');
    return await work((command, ...args) => connection.callBuffer(command, ...args));
  } finally {
    await redis.close();
  }
};

const commandsFor = async (call: Call, key: string): Promise<readonly Command[]> => {
  const type = String(await call('TYPE', key));
  const all = async (...args: readonly [string, ...string[]]) =>
    // Members come with their scores as pairs, and scores as numbers, if the protocol is RESP3.
    ((await call(...args)) as readonly Reply[]).flat().map(text);
  switch (type) {
    case 'string':
      return [['SET', key, text((await call('GET', key)) as Buffer)]];
    case 'hash':
      return [['HSET', key, ...(await all('HGETALL', key))]];
    case 'list':
      return [['RPUSH', key, ...(await all('LRANGE', key, '0', '-1'))]];
    case 'set':
      return [['SADD', key, ...(await all('SMEMBERS', key))]];
    case 'zset': {
      const pairs = await all('ZRANGE', key, '0', '-1', 'WITHSCORES');
      const turned = pairs.map((_, at) => pairs[at % 2 === 0 ? at + 1 : at - 1] ?? '');
      return [['ZADD', key, ...turned]];
    }
    case 'stream':
      return streamCommands(call, key);
    default:
      throw new Error(`${key} is a ${type}, which a state cannot hold`);
  }
};

type Entry = readonly [Buffer, readonly Buffer[]];

const streamCommands = async (call: Call, key: string): Promise<readonly Command[]> => {
  const entries = (await call('XRANGE', key, '-', '+')) as readonly Entry[];
  const groups = ((await call('XINFO', 'GROUPS', key)) as readonly (readonly unknown[])[]).map(
    facts,
  );
  const open = groups.find(({ pending }) => pending !== '0');
  if (open !== undefined)
    throw new Error(`${key} has entries that ${open.name} has not acknowledged`);
  const last = facts((await call('XINFO', 'STREAM', key)) as readonly unknown[]);
  const added = entries.map(
    ([id, fields]): Command => ['XADD', key, String(id), ...fields.map(text)],
  );
  const grouped = groups.map(({ name = '', 'last-delivered-id': seen = '' }): Command => {
    return ['XGROUP', 'CREATE', key, name, seen, 'MKSTREAM'];
  });
  return [...added, ...grouped, ['XSETID', key, last['last-generated-id'] ?? '']];
};

/** A flat list of names and values as an object. */
const facts = (list: readonly unknown[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    list.flatMap((name, at) => (at % 2 === 0 ? [[String(name), String(list[at + 1])]] : [])),
  );

const text = (bytes: Buffer | number): Value => {
  if (typeof bytes === 'number') return String(bytes);
  const utf8 = bytes.toString();
  return Buffer.from(utf8).equals(bytes) ? utf8 : { base64: bytes.toString('base64') };
};

const raw = (value: Value): string | Buffer =>
  typeof value === 'string' ? value : Buffer.from(value.base64, 'base64');
