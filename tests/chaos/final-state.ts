/**
 * Reads the state after a chaos run: Redis, disk, `skein ps` and processes. Does not use the stores of Skein, so
 * that their defects cannot hide errors.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalRecord } from '../../src/protocol/session/journal-record.js';
import type { SwarmEvent } from '../../src/protocol/session/swarm-event.js';
import type { RedisConnections } from '../../src/store/redis/connection/redis-connections.js';
import {
  isShared,
  KEY_PATTERN,
  ownerOfKey,
  queueKey,
  swarmKeys,
} from '../../src/store/redis/connection/swarm-keys.js';
import type { Line } from '../fakes/skein-process.js';
import { type ChaosSwarm, SESSION } from './chaos-swarm.js';
import { EFFECTS } from './swarm-script.js';

export interface FinalState {
  readonly events: readonly SwarmEvent[];
  readonly lead: readonly JournalRecord[];
  /** Journals of the agents except the lead, by id. */
  readonly agents: ReadonlyMap<string, readonly JournalRecord[]>;
  /** Agents with a journal on disk that differs from the journal in Redis. */
  readonly badCopies: readonly string[];
  /** Lines that the calls have written. */
  readonly effects: readonly string[];
  /** Number of unread letters, and dead letters, by address. */
  readonly mail: ReadonlyMap<
    string,
    { readonly waiting: number; readonly dead: readonly string[] }
  >;
  /** Number of open and failed jobs, by list of BullMQ. */
  readonly jobs: ReadonlyMap<string, number>;
  /** Keys of the swarm that never expire. */
  readonly lasting: readonly string[];
  /** Status of each agent in `skein ps`, by id. */
  readonly shown: ReadonlyMap<string, string>;
  /** Live processes that were started for the swarm. */
  readonly processes: readonly string[];
}

export const readFinalState = async (swarm: ChaosSwarm): Promise<FinalState> => {
  const { connections: redis, scene } = swarm;
  const keys = swarmKeys(SESSION);
  const folder = join(scene.skeinHome, 'sessions', SESSION, 'agents');
  const agents = new Map<string, readonly JournalRecord[]>();
  const badCopies: string[] = [];
  for (const id of (await redis.call('HKEYS', keys.agents)) as string[]) {
    const lines = await linesOf(redis, keys.journal(id));
    const records = lines.map((line) => JSON.parse(line) as JournalRecord);
    agents.set(id, records);
    if (textOf(join(folder, `${id}.jsonl`)) !== `${lines.join('\n')}\n`) badCopies.push(id);
  }
  const meta = await redis.call('GET', keys.meta);
  const { lead } = JSON.parse(meta as string) as { readonly lead: string };
  const leads = agents.get(lead) ?? [];
  agents.delete(lead);
  return {
    events: (await linesOf(redis, keys.events)).map((line) => JSON.parse(line) as SwarmEvent),
    lead: leads,
    agents,
    badCopies,
    effects: textOf(join(scene.workspace, EFFECTS)).split('\n').filter(Boolean),
    mail: await mailIn(redis),
    jobs: await jobsIn(redis),
    lasting: await lastingKeys(redis),
    shown: await shownAgents(swarm),
    processes: processesOf(scene.root),
  };
};

/** Status of each agent by id, as `skein ps` prints it. */
export const shownAgents = async ({ scene, env }: ChaosSwarm): Promise<Map<string, string>> => {
  const { stdout } = await scene.run(['ps', '--all', '--json'], { env });
  const { swarms } = JSON.parse(stdout) as { readonly swarms: readonly Line[] };
  const agents = swarms.flatMap((swarm) => swarm.agents as readonly Line[]);
  return new Map(agents.map(({ id, status }) => [String(id), String(status)]));
};

const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

const linesOf = async (redis: RedisConnections, key: string): Promise<readonly string[]> =>
  (await redis.call('LRANGE', key, 0, -1)) as string[];

const mailIn = async (redis: RedisConnections): Promise<FinalState['mail']> => {
  const keys = swarmKeys(SESSION);
  const addresses = (await redis.call('SMEMBERS', keys.addresses)) as string[];
  const mail = new Map<string, { readonly waiting: number; readonly dead: readonly string[] }>();
  for (const address of addresses) {
    const waiting = Number(await redis.call('XLEN', keys.mail(address)));
    mail.set(address, { waiting, dead: await linesOf(redis, keys.deadLetters(address)) });
  }
  return mail;
};

const jobsIn = async (redis: RedisConnections): Promise<FinalState['jobs']> => {
  const jobs = new Map<string, number>();
  for (const list of ['wait', 'active']) {
    jobs.set(list, Number(await redis.call('LLEN', queueKey(list))));
  }
  for (const set of ['delayed', 'prioritized', 'failed']) {
    jobs.set(set, Number(await redis.call('ZCARD', queueKey(set))));
  }
  return jobs;
};

/** Keys of BullMQ are left out, because BullMQ removes them itself. */
const lastingKeys = async (redis: RedisConnections): Promise<readonly string[]> => {
  const lasting: string[] = [];
  let cursor = '0';
  do {
    const reply = await redis.call('SCAN', cursor, 'MATCH', KEY_PATTERN, 'COUNT', 500);
    const [next, found] = reply as [string, string[]];
    cursor = next;
    for (const key of found) {
      if (isShared(ownerOfKey(key)?.owner ?? '')) continue;
      if (Number(await redis.call('PTTL', key)) === -1) lasting.push(key);
    }
  } while (cursor !== '0');
  return lasting;
};

/** Processes with `root` in their environment, or with a working directory below `root`. */
const processesOf = (root: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isProcessOf(root, name))
    .map((pid) => `${pid} ${readOrEmpty(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))}`);

const isProcessOf = (root: string, pid: string): boolean =>
  readOrEmpty(() => readFileSync(`/proc/${pid}/environ`, 'utf8')).includes(root) ||
  readOrEmpty(() => readlinkSync(`/proc/${pid}/cwd`)).startsWith(root);

/** Returns an empty string if the process has ended meanwhile. */
const readOrEmpty = (read: () => string): string => {
  try {
    return read();
  } catch {
    return '';
  }
};
