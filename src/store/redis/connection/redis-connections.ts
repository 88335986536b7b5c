/**
 * Connections of a process to Redis, and the only module that imports ioredis. The first connection
 * carries all commands in order, a second connection listens to channels, and each blocking user
 * gets its own.
 *
 * While Redis is away or refuses commands temporarily, commands wait. A command without a reply is
 * sent again, so every script must be safe to run twice.
 */
import { Cluster, type ClusterNode, Redis } from 'ioredis';
import { withTimeout } from '../../../lib/async/with-timeout.js';
import type { Outages } from '../../../protocol/session/session-store.js';
import { StorageError, UsageError } from '../../../protocol/skein-error.js';
import { coalesceWrites } from './coalesce-writes.js';
import { RedisOutage, type RetryWait } from './redis-outage.js';
import { maskedRedisUrl, parseRedisUrl, type RedisUrl } from './redis-url.js';
import { retryWhileRefused, transientRefusal } from './retry-while-refused.js';
import { wrongType } from './wrong-type.js';

export type Connection = Redis | Cluster;
export type RedisReply = unknown;
export type RedisArgument = string | number | Buffer;

/** A named Lua script. Idempotent: a second run with the same arguments has no effect. */
export interface LuaScript {
  readonly name: string;
  readonly lua: string;
}

export interface RedisConnections extends Outages {
  /** Address for messages, without the password. */
  readonly shown: string;
  /** Sends a command. Rejects with StorageError if Redis refuses it permanently. */
  call(command: string, ...args: readonly RedisArgument[]): Promise<RedisReply>;
  /** Runs a script. Rejects with StorageError if Redis refuses it permanently. */
  run(
    script: LuaScript,
    keys: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<RedisReply>;
  /**
   * Calls `onMessage` for each message of a channel, and `onMissed` after an outage, when messages
   * may be missing. Returns a function that unsubscribes.
   */
  subscribe(
    channel: string,
    onMessage: (message: string) => void,
    onMissed: () => void,
  ): () => void;
  /** Returns an ioredis connection for a library that sends its own commands. `close` closes it. */
  connection(kind: 'commands' | 'blocking'): Connection;
  /**
   * Reports that a command is retried because Redis refuses it temporarily, until `end()` is
   * called.
   */
  startRetry(why: string): RetryWait;
  close(): Promise<void>;
}

/** Time-out of the first connection. */
const START_LIMIT_MS = 5_000;
/** Maximum delay between two attempts to reconnect. */
const MAX_RECONNECT_MS = 1_000;
/** Interval of the pings that detect a server that hangs. */
const PING_EVERY_MS = 2_000;
/** Time-out of a ping. */
const PING_LIMIT_MS = 4_000;

/** Connects. Rejects with UsageError if Redis cannot be reached; no connection stays open then. */
export const connectRedis = async (
  url: string,
  limitMs = START_LIMIT_MS,
): Promise<RedisConnections> => {
  const address = parseRedisUrl(url);
  const shown = maskedRedisUrl(address);
  const redis = new OpenRedisConnections(address, shown);
  try {
    await redis.start(limitMs);
    return redis;
  } catch (error) {
    await redis.close();
    throw new UsageError(
      `Redis at ${shown} cannot be used (${reasonOf(error)}): start it, or fix SKEIN_REDIS_URL.`,
      { cause: error },
    );
  }
};

class OpenRedisConnections implements RedisConnections {
  readonly shown: string;
  private readonly redisOutage = new RedisOutage();
  private readonly address: RedisUrl;
  private readonly commands: Connection;
  private readonly blockingConnections: Connection[] = [];
  private readonly scripts = new Set<string>();
  private subscriptions: ChannelSubscriptions | undefined;
  private watch: NodeJS.Timeout | undefined;
  /** True while the connection was closed on purpose to find the new master. */
  private isLeaving = false;
  private isClosed = false;

  constructor(address: RedisUrl, shown: string) {
    this.address = address;
    this.shown = shown;
    this.commands = connect(address, () => {
      this.isLeaving = true;
    });
  }

  get outage(): string | undefined {
    return this.redisOutage.outage;
  }

  async start(limitMs: number): Promise<void> {
    // The last `error` event says more than the rejection, which only says that the connection is
    // closed.
    let why: unknown;
    this.commands.on('error', (error: unknown) => {
      why = error;
    });
    try {
      await withTimeout(this.commands.connect(), limitMs);
      await withTimeout(this.commands.ping(), limitMs);
    } catch (error) {
      throw why ?? error;
    }
    this.commands.on('close', () => {
      // If the new master cannot be reached, a second `close` event reports that.
      if (!this.isLeaving)
        this.redisOutage.setUnreachable(`Redis at ${this.shown} cannot be reached`);
      this.isLeaving = false;
    });
    this.commands.on('ready', () => this.redisOutage.setUnreachable(undefined));
    this.watch = setInterval(() => this.checkAlive(), PING_EVERY_MS).unref();
  }

  async call(command: string, ...args: readonly RedisArgument[]): Promise<RedisReply> {
    const send = () => this.commands.call(command, ...args);
    const [key] = args;
    return this.namingWrongKeys(typeof key === 'string' ? [key] : [], send);
  }

  async run(
    { name, lua }: LuaScript,
    keys: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<RedisReply> {
    if (!this.scripts.has(name)) {
      this.commands.defineCommand(name, { lua });
      this.scripts.add(name);
    }
    const commands = this.commands as unknown as Record<string, ScriptCommand>;
    const send = commands[name];
    return this.namingWrongKeys(keys, async () =>
      send?.call(this.commands, keys.length, ...keys, ...args),
    );
  }

  /** Rejects with the name of the key if a key has a wrong type, because Redis does not name it. */
  private async namingWrongKeys(
    keys: readonly string[],
    send: () => Promise<RedisReply>,
  ): Promise<RedisReply> {
    try {
      return await retryWhileRefused(this, send);
    } catch (error) {
      const { message, cause } = error as Error;
      if (!/\bWRONGTYPE\b/.test(message)) throw error;
      const types = await Promise.all(keys.map((key) => this.commands.type(key)));
      const why = wrongType(keys, types, this.shown);
      throw why === undefined ? error : new StorageError(`${why} (WRONGTYPE)`, { cause });
    }
  }

  subscribe(
    channel: string,
    onMessage: (message: string) => void,
    onMissed: () => void,
  ): () => void {
    this.subscriptions ??= new ChannelSubscriptions(this.connection('blocking'));
    return this.subscriptions.subscribe(channel, onMessage, onMissed);
  }

  connection(kind: 'commands' | 'blocking'): Connection {
    if (kind === 'commands') return this.commands;
    const connection = connect(this.address, () => {});
    // The command connection reports outages for all connections.
    connection.on('error', () => {});
    connection.connect().catch(() => {});
    this.blockingConnections.push(connection);
    return connection;
  }

  listen(listener: (outage: string | undefined) => void): () => void {
    return this.redisOutage.listen(listener);
  }

  startRetry(why: string): RetryWait {
    return this.redisOutage.startRetry(why);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    clearInterval(this.watch);
    this.redisOutage.close();
    for (const connection of [...this.blockingConnections, this.commands]) connection.disconnect();
  }

  /** Detects a server that hangs, because it closes no connection. */
  private checkAlive(): void {
    const timer = setTimeout(
      () => this.redisOutage.setUnreachable(`Redis at ${this.shown} does not answer`),
      PING_LIMIT_MS,
    ).unref();
    this.commands.ping().then(
      () => {
        clearTimeout(timer);
        this.redisOutage.setUnreachable(undefined);
      },
      (error: unknown) => {
        clearTimeout(timer);
        const why = transientRefusal(this, error);
        if (why !== undefined) this.redisOutage.setUnreachable(why);
      },
    );
  }
}

type ScriptCommand = (
  this: Connection,
  keys: number,
  ...args: readonly RedisArgument[]
) => Promise<RedisReply>;

/** Subscribes to all channels over a single connection. */
class ChannelSubscriptions {
  private readonly connection: Connection;
  private readonly channels = new Map<string, Set<Listener>>();

  constructor(connection: Connection) {
    this.connection = connection;
    connection.on('message', (channel: string, message: string) => {
      for (const { onMessage } of this.channels.get(channel) ?? []) onMessage(message);
    });
    connection.on('ready', () => {
      for (const [channel, listeners] of this.channels) {
        for (const listener of listeners) this.subscribeOnServer(channel, listener);
      }
    });
  }

  subscribe(channel: string, onMessage: Listener['onMessage'], onMissed: () => void): () => void {
    const listeners = this.channels.get(channel) ?? new Set();
    this.channels.set(channel, listeners);
    const listener = { onMessage, onMissed };
    listeners.add(listener);
    this.subscribeOnServer(channel, listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.channels.get(channel) !== listeners) return;
      this.channels.delete(channel);
      this.connection.unsubscribe(channel).catch(() => {});
    };
  }

  /** Calls `onMissed` after Redis has confirmed, because earlier messages were not received. */
  private subscribeOnServer(channel: string, listener: Listener): void {
    const { onMissed } = listener;
    const notify = () => this.channels.get(channel)?.has(listener) === true && onMissed();
    this.connection.subscribe(channel).then(notify, () => {});
  }
}

interface Listener {
  readonly onMessage: (message: string) => void;
  readonly onMissed: () => void;
}

/** Calls `onLeave` whenever the connection is closed to find another master. */
const connect = (address: RedisUrl, onLeave: () => void): Connection => {
  const connection = connectionTo(address, onLeave);
  if (connection instanceof Cluster) connection.on('+node', coalesceOn);
  else coalesceOn(connection);
  return connection;
};

/** Coalesces writes on each `connect`, because every reconnect makes a new socket. */
const coalesceOn = (node: Redis): void => {
  node.on('connect', () => coalesceWrites(node.stream));
};

/** Reconnects on READONLY: the server is a replica since a failover. At most once a second. */
const leaveReplica = (onLeave: () => void): ((error: Error) => 1 | false) => {
  let leftAt = 0;
  return ({ message }) => {
    const now = Date.now();
    if (!message.startsWith('READONLY') || now - leftAt < MAX_RECONNECT_MS) return false;
    leftAt = now;
    onLeave();
    return 1;
  };
};

const connectionTo = (address: RedisUrl, onLeave: () => void): Connection => {
  const { username, password, db, tls } = address;
  const options = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(db !== undefined && { db }),
    ...(tls && { tls: {} }),
    lazyConnect: true,
    // ChannelSubscriptions resubscribes and reports missed messages.
    autoResubscribe: false,
    // Commands wait for Redis without a limit.
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 10), MAX_RECONNECT_MS),
    reconnectOnError: leaveReplica(onLeave),
  };
  switch (address.kind) {
    case 'single':
      return new Redis({ ...options, ...address.node });
    case 'socket':
      return new Redis({ ...options, path: address.path });
    case 'sentinel': {
      const { nodes, master: name, sentinelPassword } = address;
      return new Redis({
        ...options,
        sentinels: [...nodes],
        name,
        ...(sentinelPassword !== undefined && { sentinelPassword }),
        ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
        sentinelRetryStrategy: () => MAX_RECONNECT_MS,
      });
    }
    case 'cluster': {
      const { lazyConnect: _lazy, retryStrategy: _retry, ...redisOptions } = options;
      const nodes: ClusterNode[] = [...address.nodes];
      return new Cluster(nodes, {
        lazyConnect: true,
        redisOptions,
        clusterRetryStrategy: () => MAX_RECONNECT_MS,
      });
    }
  }
};

const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
};
