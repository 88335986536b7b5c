/** What a storm has left: in Redis, on disk, on the screen and among the processes. Nothing of ours reads it. */
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
import { SESSION, type StormySwarm } from './stormy-swarm.js';
import { EFFECTS } from './swarm-script.js';

export interface Remains {
  readonly events: readonly SwarmEvent[];
  readonly lead: readonly JournalRecord[];
  /** By id. */
  readonly agents: ReadonlyMap<string, readonly JournalRecord[]>;
  /** Whose copy on disk is another than what Redis has. */
  readonly badCopies: readonly string[];
  /** The lines that calls have left behind. */
  readonly effects: readonly string[];
  /** By address: letters that wait, and dead ones. */
  readonly mail: ReadonlyMap<
    string,
    { readonly waiting: number; readonly dead: readonly string[] }
  >;
  /** By where BullMQ keeps them: jobs that have not ended, or badly. */
  readonly jobs: ReadonlyMap<string, number>;
  /** Keys of the swarm that never expire. */
  readonly lasting: readonly string[];
  /** By id: how `skein ps` shows an agent. */
  readonly shown: ReadonlyMap<string, string>;
  /** Processes that were started for the swarm. */
  readonly processes: readonly string[];
}

export const readRemains = async (swarm: StormySwarm): Promise<Remains> => {
  const { broker, scene } = swarm;
  const keys = swarmKeys(SESSION);
  const folder = join(scene.skeinHome, 'sessions', SESSION, 'agents');
  const agents = new Map<string, readonly JournalRecord[]>();
  const badCopies: string[] = [];
  for (const id of (await broker.call('HKEYS', keys.agents)) as string[]) {
    const lines = await linesOf(broker, keys.journal(id));
    const records = lines.map((line) => JSON.parse(line) as JournalRecord);
    agents.set(id, records);
    if (textOf(join(folder, `${id}.jsonl`)) !== `${lines.join('\n')}\n`) badCopies.push(id);
  }
  const meta = await broker.call('GET', keys.meta);
  const { lead } = JSON.parse(meta as string) as { readonly lead: string };
  const leads = agents.get(lead) ?? [];
  agents.delete(lead);
  return {
    events: (await linesOf(broker, keys.events)).map((line) => JSON.parse(line) as SwarmEvent),
    lead: leads,
    agents,
    badCopies,
    effects: textOf(join(scene.workspace, EFFECTS)).split('\n').filter(Boolean),
    mail: await mailIn(broker),
    jobs: await jobsIn(broker),
    lasting: await lastingKeys(broker),
    shown: await shownAgents(swarm),
    processes: processesOf(scene.root),
  };
};

/** As people see it: each agent with its status. */
export const shownAgents = async ({ scene, env }: StormySwarm): Promise<Map<string, string>> => {
  const { stdout } = await scene.run(['ps', '--all', '--json'], { env });
  const { swarms } = JSON.parse(stdout) as { readonly swarms: readonly Line[] };
  const agents = swarms.flatMap((one) => one.agents as readonly Line[]);
  return new Map(agents.map(({ id, status }) => [String(id), String(status)]));
};

const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

const linesOf = async (broker: RedisConnections, key: string): Promise<readonly string[]> =>
  (await broker.call('LRANGE', key, 0, -1)) as string[];

const mailIn = async (broker: RedisConnections): Promise<Remains['mail']> => {
  const keys = swarmKeys(SESSION);
  const addresses = (await broker.call('SMEMBERS', keys.addresses)) as string[];
  const mail = new Map<string, { readonly waiting: number; readonly dead: readonly string[] }>();
  for (const address of addresses) {
    const waiting = Number(await broker.call('XLEN', keys.mail(address)));
    mail.set(address, { waiting, dead: await linesOf(broker, keys.deadLetters(address)) });
  }
  return mail;
};

const jobsIn = async (broker: RedisConnections): Promise<Remains['jobs']> => {
  const jobs = new Map<string, number>();
  for (const list of ['wait', 'active']) {
    jobs.set(list, Number(await broker.call('LLEN', queueKey(list))));
  }
  for (const set of ['delayed', 'prioritized', 'failed']) {
    jobs.set(set, Number(await broker.call('ZCARD', queueKey(set))));
  }
  return jobs;
};

/** What BullMQ keeps it removes itself. */
const lastingKeys = async (broker: RedisConnections): Promise<readonly string[]> => {
  const lasting: string[] = [];
  let cursor = '0';
  do {
    const reply = await broker.call('SCAN', cursor, 'MATCH', KEY_PATTERN, 'COUNT', 500);
    const [next, found] = reply as [string, string[]];
    cursor = next;
    for (const key of found) {
      if (isShared(ownerOfKey(key)?.owner ?? '')) continue;
      if (Number(await broker.call('PTTL', key)) === -1) lasting.push(key);
    }
  } while (cursor !== '0');
  return lasting;
};

/** Whatever was started for it says so in its environment, or works in its folder. */
const processesOf = (root: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isLeftOf(root, name))
    .map((pid) => `${pid} ${seen(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))}`);

const isLeftOf = (root: string, pid: string): boolean =>
  seen(() => readFileSync(`/proc/${pid}/environ`, 'utf8')).includes(root) ||
  seen(() => readlinkSync(`/proc/${pid}/cwd`)).startsWith(root);

/** Processes end while they are looked at. */
const seen = (look: () => string): string => {
  try {
    return look();
  } catch {
    return '';
  }
};
