/**
 * Detects a change of the Redis server: a restart or a failover. The new server may have lost writes
 * that the old server had acknowledged, so the lead checks the data before workers start agents.
 */
import { COUNT_HINT } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { KEEP_MS, type SwarmKeys } from '../connection/swarm-keys.js';
import type { Scope } from './write-scopes.js';

/** Resolves with true if all losses are handled. `hasLost`: the server has lost events of the swarm. */
type Check = (hasLost: boolean) => Promise<boolean>;

interface ServerState {
  /** Run id of the server. Empty if this client may not read it. */
  readonly server: string;
  /** Run id of the server that the lead has checked. Empty if no lead has checked a server. */
  readonly checked: string;
}

/** True if workers may start agents of the swarm. */
export const isServerChecked = async (
  redis: RedisConnections,
  keys: SwarmKeys,
): Promise<boolean> => {
  const { server, checked } = await readState(redis, keys);
  // Leads of earlier versions check no server.
  return server === '' || checked === '' || server === checked;
};

/** Records the current server as checked. For a session without earlier data. */
export const acceptServer = async (redis: RedisConnections, keys: SwarmKeys): Promise<void> => {
  const { server } = await readState(redis, keys);
  await redis.call('SET', keys.checkedServer, server, 'PX', KEEP_MS);
};

export class ServerCheck {
  private readonly redis: RedisConnections;
  private readonly keys: SwarmKeys;
  private readonly lead: Scope;
  private readonly everyMs: number;
  private check: Check | undefined;
  /** Server that was seen before and is not checked yet. */
  private pending: string | undefined;
  /** Highest number of events that the server has announced. */
  private events = 0;
  private hasLost = false;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private readonly stopListening: () => void;

  /** `everyMs`: time in which every live worker notices that it has lost data. */
  constructor(redis: RedisConnections, keys: SwarmKeys, lead: Scope, everyMs: number) {
    this.redis = redis;
    this.keys = keys;
    this.lead = lead;
    this.everyMs = everyMs;
    const stopListening = redis.listen((outage) => {
      if (outage === undefined) this.look();
    });
    // The hint of a write arrives at once, so that the lead knows of events that it has not read.
    const unsubscribe = redis.subscribe(
      keys.hints,
      (hint) => {
        if (hint.startsWith(COUNT_HINT))
          this.events = Math.max(this.events, Number(hint.slice(COUNT_HINT.length)));
      },
      () => {},
    );
    this.stopListening = () => {
      stopListening();
      unsubscribe();
    };
  }

  start(check: Check): () => void {
    this.check = check;
    this.timer = setInterval(() => this.look(), this.everyMs).unref();
    this.look();
    return () => this.stop();
  }

  stop(): void {
    this.check = undefined;
    clearInterval(this.timer);
    this.stopListening();
  }

  private look(): void {
    // A failed look is repeated by the timer.
    this.running ??= this.compare()
      .catch(() => {})
      .finally(() => {
        this.running = undefined;
      });
  }

  private async compare(): Promise<void> {
    const { server, checked } = await readState(this.redis, this.keys);
    if (server === '' || server === checked) {
      this.pending = undefined;
      return;
    }
    // Live workers need some time to write what they know.
    if (this.pending !== server) {
      this.pending = server;
      const { events } = this;
      const left = Number(await this.redis.call('LLEN', this.keys.events));
      this.hasLost ||= left < events;
      this.events = left;
      return;
    }
    if ((await this.check?.(this.hasLost)) !== true) return;
    this.hasLost = false;
    const { name, claim } = this.lead;
    await this.redis.run(
      ACCEPT,
      [this.keys.scopes, this.keys.checkedServer],
      [name, claim, server, KEEP_MS],
    );
  }
}

const readState = async (redis: RedisConnections, keys: SwarmKeys): Promise<ServerState> => {
  const [server, checked] = (await redis.run(STATE, [keys.checkedServer], [])) as [string, string];
  return { server, checked };
};

/** A script, because it runs on the node of a cluster that has the keys of the swarm. */
const STATE = {
  name: 'skeinServerState',
  lua: `
    local info = redis.pcall('INFO', 'server')
    local server = type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ''
    return {server, redis.call('GET', KEYS[1]) or ''}`,
};

const ACCEPT = {
  name: 'skeinAcceptServer',
  lua: `
    if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
    redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
    return 1`,
};
