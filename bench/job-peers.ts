/**
 * A process that hands out jobs and one that works on them, which is nothing:
 *
 *   bare    a queue of BullMQ, with its defaults
 *   queue   the same through our queue
 *   whole   an agent each, as a lead and a worker have them: it is written down and handed over, adopted,
 *           goes on and ends in its journal, and the lead reads its end when a letter tells of it
 */
import { dirname, join } from 'node:path';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { systemClock } from '../src/protocol/clock.js';
import { SESSION_FORMAT, type SessionMeta } from '../src/protocol/session/session-store.js';
import { queueKey } from '../src/store/redis/connection/swarm-keys.js';
import { openRedisStore, type RedisStore } from '../src/store/redis/sessions/redis-store.js';
import { type Role, say } from './peers.js';

export interface JobFigures {
  /** µs of each job, from the first that is handed out to the end of the last. */
  readonly each: number;
}

const [role, kind = '', socket = '', count = '2000'] = process.argv.slice(2);
const CONCURRENCY = 100;
/** Handed out and not taken by Redis yet. */
const WINDOW = 64;
/** Handed out and not heard of. */
const MOST_OUT = 500;
const LEAD = 'a_lead';
const LOOK_EVERY_MS = 2;
/** Before anything is measured. */
const WARM_UP = 500;

const all = Number(count) + WARM_UP;
const connection = { path: socket };
const runId = 's_bench';

const store = (): Promise<RedisStore> =>
  openRedisStore({
    url: `unix://${socket}`,
    owner: { marker: `bench-${process.pid}`, pid: process.pid },
    clock: systemClock,
    redact: (text: string) => text,
    // Goes with the server.
    folder: join(dirname(socket), `peer-${process.pid}`),
  });

const meta = (): SessionMeta => ({
  format: SESSION_FORMAT,
  id: runId,
  cwd: '/',
  createdAt: 0,
  updatedAt: 0,
  lead: LEAD,
  model: 'none',
  version: '0',
  entrypoint: 'bench',
  parentId: null,
  title: 'jobs',
});

const words = `[${JSON.stringify({ type: 'text', text: 'word '.repeat(40) })}]`;
const idOf = (number: number): string => `a_${String(number).padStart(8, '0')}`;

/** Side by side, no more at once than the window. */
const forEach = async (from: number, to: number, act: (at: number) => Promise<unknown>) => {
  let next = from;
  const line = async () => {
    while (next < to) {
      next += 1;
      await act(next - 1);
    }
  };
  await Promise.all(Array.from({ length: WINDOW }, line));
};

const answer = async (): Promise<void> => {
  if (kind === 'bare') {
    const worker = new Worker('bare', async () => {}, { connection, concurrency: CONCURRENCY });
    await worker.waitUntilReady();
    return;
  }
  const { sessions, queue } = await store();
  if (kind === 'queue') {
    await queue.consume('bench', { concurrency: CONCURRENCY }, async () => 'done');
    return;
  }
  let visiting: ReturnType<typeof sessions.openAsWorker> | undefined;
  const mailbox = sessions.mailbox(runId);
  await queue.consume('bench', { concurrency: CONCURRENCY }, async ({ id }) => {
    visiting ??= sessions.openAsWorker(runId);
    const session = await visiting;
    const adoption = await session.adopt(id);
    const journal = await session.journal(id, LEAD);
    journal.append({ type: 'epoch.began', owner: 'bench' });
    journal.append({
      type: 'run.ended',
      reason: 'end_turn',
      detail: null,
      turns: 0,
      final: true,
    });
    await journal.sync();
    const body = { type: 'ended', agent: id, run: 1 };
    const letter = { id: `end_${id}`, from: 'bench', to: LEAD, sentAt: Date.now(), body };
    await mailbox.send(letter);
    await adoption.release();
    return 'done';
  });
};

/** Hands out those up to a number, and resolves when they are over. */
type HandOut = (from: number, to: number) => Promise<void>;

const untilCompleted = async (redis: Redis, key: string, many: number): Promise<void> => {
  while ((await redis.zcard(key)) < many) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
};

const handsOut: Readonly<Record<string, () => Promise<HandOut>>> = {
  async bare() {
    const queue = new Queue('bare', { connection });
    const redis = new Redis(connection);
    const before = await redis.zcard('bull:bare:completed');
    return async (from, to) => {
      await forEach(from, to, (at) => queue.add('agent', { id: idOf(at), swarm: runId }));
      await untilCompleted(redis, 'bull:bare:completed', before + to);
    };
  },
  async queue() {
    const { queue } = await store();
    const redis = new Redis(connection);
    const before = await redis.zcard(queueKey('completed'));
    return async (from, to) => {
      await forEach(from, to, (at) => queue.add({ id: idOf(at), swarm: runId, addedAt: 0, at: 2 }));
      await untilCompleted(redis, queueKey('completed'), before + to);
    };
  },
  async whole() {
    const { sessions, queue } = await store();
    const session = await sessions.create(meta());
    const inbox = await sessions.mailbox(runId).open(LEAD);
    const lead = await session.journal(LEAD, null);
    let heard = 0;
    const listeners = new Set<() => void>();
    const untilHeard = async (many: number) => {
      while (heard < many) await new Promise<void>((resolve) => listeners.add(resolve));
    };
    const hear = async (letter: string, agent: string) => {
      await sessions.readJournal(runId, agent);
      lead.append({ type: 'letter.received', letter: `r_${agent}`, from: agent, raw: words });
      await lead.sync();
      await inbox.acknowledge(letter);
      heard += 1;
      for (const listener of listeners) listener();
      listeners.clear();
    };
    const listen = async () => {
      const { signal } = new AbortController();
      for (;;) {
        const letter = await inbox.next(signal);
        if (letter === undefined) return;
        void hear(letter.id, (letter.body as { agent: string }).agent);
      }
    };
    void listen();
    return async (from, to) => {
      await forEach(from, to, async (at) => {
        const id = idOf(at);
        // No more than a thousand letters may lie in its mailbox.
        await untilHeard(at - MOST_OUT);
        const journal = await session.journal(id, LEAD);
        const begun = { agent: id, parent: LEAD, cwd: '/', model: 'none', prompt: 'none' };
        journal.append({ type: 'agent.created', ...begun });
        journal.append({ type: 'letter.received', letter: `l_${id}`, from: LEAD, raw: words });
        await session.closeJournal(id);
        await queue.add({ id, swarm: runId, addedAt: Date.now(), at: 2 });
      });
      await untilHeard(to);
    };
  },
};

const begin = async (): Promise<JobFigures> => {
  const handOut = await handsOut[kind]?.();
  if (handOut === undefined) throw new Error(`There is no kind ${kind}.`);
  await handOut(0, WARM_UP);
  const began = performance.now();
  await handOut(WARM_UP, all);
  return { each: ((performance.now() - began) * 1_000) / Number(count) };
};

if ((role as Role) === 'answers') {
  await answer();
  say('ready');
} else say(JSON.stringify(await begin()));
