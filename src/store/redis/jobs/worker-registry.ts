/** Which workers live: each says so every few seconds, and is forgotten when it does not. */
import { z } from 'zod';
import type { RedisConnections, Script } from '../connection/redis-connections.js';
import { WORKERS } from '../connection/redis-keys.js';

const workerState = z.object({
  host: z.string(),
  pid: z.number(),
  /** Jobs that it works on, and how many it could. */
  busy: z.number(),
  concurrency: z.number(),
});
export type WorkerState = z.infer<typeof workerState>;

export type LiveWorker = WorkerState & {
  readonly name: string;
  /** By the clock of Redis; milliseconds since 1970. */
  readonly heardAt: number;
};

/** Who says nothing for so long is taken for dead. */
const SILENCE_MS = 15_000;
export const HEARTBEAT_MS = 5_000;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** KEYS: workers; ARGV: name, state, how long it counts. With %d a server of 32 bits would cut the time off. */
const HEAR: Script = {
  name: 'skeinHearWorker',
  lua: `${NOW}
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f ', now) .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
`,
};

/** KEYS: workers; ARGV: how long one counts. Answers with name, time and state of each in turn. */
const LIVE: Script = {
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
  private readonly broker: RedisConnections;

  constructor(broker: RedisConnections) {
    this.broker = broker;
  }

  async hear(name: string, state: WorkerState): Promise<void> {
    await this.broker.run(HEAR, [WORKERS], [name, JSON.stringify(state), SILENCE_MS]);
  }

  async forget(name: string): Promise<void> {
    await this.broker.call('HDEL', WORKERS, name);
  }

  /** By name. */
  async live(): Promise<readonly LiveWorker[]> {
    const parts = (await this.broker.run(LIVE, [WORKERS], [SILENCE_MS])) as readonly string[];
    const found: LiveWorker[] = [];
    for (let at = 0; at + 2 < parts.length; at += 3) {
      const [name = '', heardAt, text = ''] = parts.slice(at, at + 3);
      const data = readState(text);
      if (data !== undefined) found.push({ ...data, name, heardAt: Number(heardAt) });
    }
    return found.sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}

/** Undefined when somebody else has written it: then it is no worker's. */
const readState = (text: string): WorkerState | undefined => {
  try {
    return workerState.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
