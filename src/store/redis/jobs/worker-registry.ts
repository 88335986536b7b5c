/** Registry of live workers in Redis. A worker without a heartbeat for 15 seconds is removed. */

import { hostname } from 'node:os';
import { z } from 'zod';
import { parseJson } from '../../../lib/json/parse-json.js';
import type { LuaScript, RedisConnections } from '../connection/redis-connections.js';
import { WORKERS } from '../connection/swarm-keys.js';

const workerState = z.object({
  host: z.string(),
  pid: z.number(),
  /** Number of running jobs. */
  busy: z.number(),
  /** Maximum number of concurrent jobs. */
  concurrency: z.number(),
});
type WorkerState = z.infer<typeof workerState>;

export type LiveWorker = WorkerState & {
  readonly name: string;
  /** Time of the last heartbeat by the clock of Redis, in milliseconds since 1970. */
  readonly heardAt: number;
};

/** Milliseconds without a heartbeat after which a worker counts as dead. */
const SILENCE_MS = 15_000;
const HEARTBEAT_MS = 5_000;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * KEYS: workers; ARGV: name, state, expiry in ms. `%.0f`, because `%d` truncates the time on a
 * 32-bit server.
 */
const RECORD_HEARTBEAT: LuaScript = {
  name: 'skeinHearWorker',
  lua: `${NOW}
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f ', now) .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
`,
};

/**
 * KEYS: workers; ARGV: maximum age of a heartbeat in ms. Returns name, time and state of each live
 * worker.
 */
const LIVE: LuaScript = {
  name: 'skeinLiveWorkers',
  lua: `${NOW}
local live = {}
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local heard, state = string.match(all[at + 1], '^(%d+) (.*)$')
  if heard and now - heard <= tonumber(ARGV[1]) then
    for _, part in ipairs({ all[at], heard, state }) do live[#live + 1] = part end
  else
    redis.call('HDEL', KEYS[1], all[at])
  end
end
return live
`,
};

export class WorkerRegistry {
  private readonly redis: RedisConnections;

  constructor(redis: RedisConnections) {
    this.redis = redis;
  }

  async recordHeartbeat(name: string, state: WorkerState): Promise<void> {
    await this.redis.run(RECORD_HEARTBEAT, [WORKERS], [name, JSON.stringify(state), SILENCE_MS]);
  }

  async remove(name: string): Promise<void> {
    await this.redis.call('HDEL', WORKERS, name);
  }

  /** Returns the live workers, sorted by name. */
  async live(): Promise<readonly LiveWorker[]> {
    const parts = (await this.redis.run(LIVE, [WORKERS], [SILENCE_MS])) as readonly string[];
    const workers: LiveWorker[] = [];
    for (let at = 0; at + 2 < parts.length; at += 3) {
      const [name = '', heardAt, text = ''] = parts.slice(at, at + 3);
      const data = readState(text);
      if (data !== undefined) workers.push({ ...data, name, heardAt: Number(heardAt) });
    }
    return workers.sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

/** Returns undefined if the text is not the state of a worker. */
const readState = (text: string): WorkerState | undefined =>
  workerState.safeParse(parseJson(text)).data;

/** Sends the heartbeat of a worker every five seconds. */
export class WorkerHeartbeat {
  private readonly registry: WorkerRegistry;
  private readonly name: string;
  private readonly state: () => Pick<WorkerState, 'busy' | 'concurrency'>;
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> | undefined;

  constructor(registry: WorkerRegistry, name: string, state: WorkerHeartbeat['state']) {
    this.registry = registry;
    this.name = name;
    this.state = state;
  }

  /** Rejects with StorageError if Redis refuses the first heartbeat. */
  async start(): Promise<void> {
    await this.beat();
    this.timer = setInterval(() => void this.beat().catch(() => {}), HEARTBEAT_MS).unref();
  }

  /** Sends a heartbeat, unless a heartbeat waits already for a Redis that is away. */
  beat(): Promise<void> {
    const state = { host: hostname(), pid: process.pid, ...this.state() };
    this.sending ??= this.registry.recordHeartbeat(this.name, state).finally(() => {
      this.sending = undefined;
    });
    return this.sending;
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
