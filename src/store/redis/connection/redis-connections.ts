/**
 * The connections of a process to Redis, and the one door to ioredis. One connection carries the commands
 * of everybody, in order; one listens to channels; whoever blocks gets one of its own.
 *
 * While Redis is away, or refuses things for now, commands wait, and are sent when it is back. One that was
 * sent and not answered is sent again: so every script has to be one that may run twice.
 */
import { Cluster, type ClusterNode, Redis } from 'ioredis';
import { withTimeout } from '../../../lib/with-timeout.js';
import { UsageError } from '../../../protocol/errors.js';
import type { Outages } from '../../../protocol/session/store.js';
import { retryWhileRefused, transientRefusal } from './redis-errors.js';
import { RedisOutage, type Waiting } from './redis-outage.js';
import { maskedRedisUrl, parseRedisUrl, type RedisUrl } from './redis-url.js';
import { gatherWrites } from './write-coalescing.js';

export type Connection = Redis | Cluster;
export type Reply = unknown;
export type Argument = string | number | Buffer;

/** A Lua script under a name; it may run twice with the same arguments and change nothing the second time. */
export interface Script {
  readonly name: string;
  readonly lua: string;
}

export interface RedisConnections extends Outages {
  /** As people may see it: no password. */
  readonly shown: string;
  /** Rejects with a StorageError when Redis refuses it. */
  call(command: string, ...args: readonly Argument[]): Promise<Reply>;
  run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Reply>;
  /** Hears each message of a channel until what it returns is called; and after an outage `missed`. */
  subscribe(channel: string, heard: (message: string) => void, missed: () => void): () => void;
  /** For a library that brings its own commands; closed with the broker. */
  connection(kind: 'commands' | 'blocking'): Connection;
  /** Somebody waits because Redis refuses something for now, until that is ended. */
  refused(why: string): Waiting;
  close(): Promise<void>;
}

/** A first connection takes no longer, or there is none. */
const START_LIMIT_MS = 5_000;
/** Between two attempts to reach one that is away. */
const LONGEST_PAUSE_MS = 1_000;
/** How often it is asked whether it is there, and how long it may think about that. */
const LOOK_EVERY_MS = 2_000;
const SILENCE_MS = 4_000;

/** Rejects with a UsageError when there is none: nothing was begun then. */
export const connectRedis = async (
  url: string,
  limitMs = START_LIMIT_MS,
): Promise<RedisConnections> => {
  const address = parseRedisUrl(url);
  const shown = maskedRedisUrl(address);
  const broker = new RedisBroker(address, shown);
  try {
    await broker.begin(limitMs);
    return broker;
  } catch (error) {
    await broker.close();
    throw new UsageError(
      `Redis at ${shown} cannot be used (${reasonOf(error)}): start it, or mend SKEIN_REDIS_URL.`,
      { cause: error },
    );
  }
};

class RedisBroker implements RedisConnections {
  readonly shown: string;
  private readonly troubles = new RedisOutage();
  private readonly address: RedisUrl;
  private readonly commands: Connection;
  private readonly others: Connection[] = [];
  private readonly scripts = new Set<string>();
  private ears: Ears | undefined;
  private watch: NodeJS.Timeout | undefined;
  /** The connection was just left to look for whoever is the master now. */
  private isMoving = false;
  private isClosed = false;

  constructor(address: RedisUrl, shown: string) {
    this.address = address;
    this.shown = shown;
    this.commands = connect(address, () => {
      this.isMoving = true;
    });
  }

  get trouble(): string | undefined {
    return this.troubles.trouble;
  }

  async begin(limitMs: number): Promise<void> {
    // That a connection is closed says less than why.
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
      // One that cannot be reached then closes the next one too.
      if (!this.isMoving) this.troubles.reach(`Redis at ${this.shown} cannot be reached`);
      this.isMoving = false;
    });
    this.commands.on('ready', () => this.troubles.reach(undefined));
    this.watch = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  async call(command: string, ...args: readonly Argument[]): Promise<Reply> {
    return retryWhileRefused(this, () => this.commands.call(command, ...args));
  }

  async run(
    { name, lua }: Script,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<Reply> {
    if (!this.scripts.has(name)) {
      this.commands.defineCommand(name, { lua });
      this.scripts.add(name);
    }
    const commands = this.commands as unknown as Record<string, Scripted>;
    const send = commands[name];
    return retryWhileRefused(this, async () =>
      send?.call(this.commands, keys.length, ...keys, ...args),
    );
  }

  subscribe(channel: string, heard: (message: string) => void, missed: () => void): () => void {
    this.ears ??= new Ears(this.connection('blocking'));
    return this.ears.subscribe(channel, heard, missed);
  }

  connection(kind: 'commands' | 'blocking'): Connection {
    if (kind === 'commands') return this.commands;
    const another = connect(this.address, () => {});
    // What goes wrong is said once, by the connection that everybody uses.
    another.on('error', () => {});
    another.connect().catch(() => {});
    this.others.push(another);
    return another;
  }

  listen(listener: (trouble: string | undefined) => void): () => void {
    return this.troubles.listen(listener);
  }

  refused(why: string): Waiting {
    return this.troubles.refused(why);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    clearInterval(this.watch);
    this.troubles.close();
    for (const connection of [...this.others, this.commands]) connection.disconnect();
  }

  /** A server that hangs closes no connection. */
  private look(): void {
    const silence = setTimeout(
      () => this.troubles.reach(`Redis at ${this.shown} does not answer`),
      SILENCE_MS,
    ).unref();
    this.commands.ping().then(
      () => {
        clearTimeout(silence);
        this.troubles.reach(undefined);
      },
      (error: unknown) => {
        clearTimeout(silence);
        const why = transientRefusal(this, error);
        if (why !== undefined) this.troubles.reach(why);
      },
    );
  }
}

type Scripted = (this: Connection, keys: number, ...args: readonly Argument[]) => Promise<Reply>;

/** All channels that somebody listens to, over one connection. */
class Ears {
  private readonly connection: Connection;
  private readonly channels = new Map<string, Set<Listener>>();

  constructor(connection: Connection) {
    this.connection = connection;
    connection.on('message', (channel: string, message: string) => {
      for (const { heard } of this.channels.get(channel) ?? []) heard(message);
    });
    connection.on('ready', () => {
      for (const [channel, listeners] of this.channels) {
        for (const listener of listeners) this.hear(channel, listener);
      }
    });
  }

  subscribe(channel: string, heard: Listener['heard'], missed: () => void): () => void {
    const listeners = this.channels.get(channel) ?? new Set();
    this.channels.set(channel, listeners);
    const listener = { heard, missed };
    listeners.add(listener);
    this.hear(channel, listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.channels.get(channel) !== listeners) return;
      this.channels.delete(channel);
      this.connection.unsubscribe(channel).catch(() => {});
    };
  }

  /** What came before Redis has said that it is heard is missed as well. */
  private hear(channel: string, listener: Listener): void {
    const { missed } = listener;
    const told = () => this.channels.get(channel)?.has(listener) === true && missed();
    this.connection.subscribe(channel).then(told, () => {});
  }
}

interface Listener {
  readonly heard: (message: string) => void;
  readonly missed: () => void;
}

/** `moving` is called whenever it is left to look for another master. */
const connect = (address: RedisUrl, moving: () => void): Connection => {
  const connection = connectionTo(address, moving);
  if (connection instanceof Cluster) connection.on('+node', gatherOn);
  else gatherOn(connection);
  return connection;
};

/** Its socket is another one whenever it connects again. */
const gatherOn = (node: Redis): void => {
  node.on('connect', () => gatherWrites(node.stream));
};

/** What was the master before a failover takes no writes any more; there may be no other one yet. */
const leaveReplica = (moving: () => void): ((error: Error) => 1 | false) => {
  let leftAt = 0;
  return ({ message }) => {
    const now = Date.now();
    if (!message.startsWith('READONLY') || now - leftAt < LONGEST_PAUSE_MS) return false;
    leftAt = now;
    moving();
    return 1;
  };
};

const connectionTo = (address: RedisUrl, moving: () => void): Connection => {
  const { username, password, db, tls } = address;
  const options = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(db !== undefined && { db }),
    ...(tls && { tls: {} }),
    lazyConnect: true,
    // Ears do it, and mind what becomes of it.
    autoResubscribe: false,
    // Whoever waits for Redis waits for as long as it takes.
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 10), LONGEST_PAUSE_MS),
    reconnectOnError: leaveReplica(moving),
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
        sentinelRetryStrategy: () => LONGEST_PAUSE_MS,
      });
    }
    case 'cluster': {
      const { lazyConnect: _lazy, retryStrategy: _retry, ...redisOptions } = options;
      const nodes: ClusterNode[] = [...address.nodes];
      return new Cluster(nodes, {
        lazyConnect: true,
        redisOptions,
        clusterRetryStrategy: () => LONGEST_PAUSE_MS,
      });
    }
  }
};

const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
};
