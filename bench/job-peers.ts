/**
 * A process that queues jobs and a process that runs them. The jobs are empty:
 *
 *   bare    a queue of BullMQ with its defaults
 *   queue   the queue of Skein
 *   whole   an agent for each job: the lead creates its journal and queues it, the worker adopts it, runs
 *           and ends it in its journal, and the lead reads the journal when the letter arrives
 */
import { dirname, join } from 'node:path';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { systemClock } from '../src/protocol/clock.js';
import { SESSION_FORMAT, type SessionMeta } from '../src/protocol/session/session-store.js';
import { queueKey } from '../src/store/redis/connection/swarm-keys.js';
import { openRedisStore, type RedisStore } from '../src/store/redis/sessions/redis-store.js';
import { printLine, type Role } from './peers.js';

export interface JobFigures {
  /** µs per job, from the first queued job to the end of the last. */
  readonly perJob: number;
}

const [role, kind = '', socket = '', count = '2000'] = process.argv.slice(2);
const CONCURRENCY = 100;
/** Maximum concurrent commands to Redis. */
const WINDOW = 64;
/** Maximum queued jobs without a letter about their end. */
const MAX_UNFINISHED = 500;
const LEAD = 'a_lead';
const POLL_INTERVAL_MS = 2;
/** Number of jobs before the measurement. */
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
    // Removed together with the server.
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

const content = `[${JSON.stringify({ type: 'text', text: 'word '.repeat(40) })}]`;
const idOf = (number: number): string => `a_${String(number).padStart(8, '0')}`;

/** Calls `act` for each number, at most `WINDOW` at a time. */
const runConcurrently = async (from: number, to: number, act: (at: number) => Promise<unknown>) => {
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
  let opening: ReturnType<typeof sessions.openAsWorker> | undefined;
  const mailbox = sessions.mailbox(runId);
  await queue.consume('bench', { concurrency: CONCURRENCY }, async ({ id }) => {
    opening ??= sessions.openAsWorker(runId);
    const session = await opening;
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

/** Queues the jobs from `from` up to `to`. Resolves when they have ended. */
type RunJobs = (from: number, to: number) => Promise<void>;

const untilCompleted = async (redis: Redis, key: string, count: number): Promise<void> => {
  while ((await redis.zcard(key)) < count) {
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
};

const jobRunners: Readonly<Record<string, () => Promise<RunJobs>>> = {
  async bare() {
    const queue = new Queue('bare', { connection });
    const redis = new Redis(connection);
    const before = await redis.zcard('bull:bare:completed');
    return async (from, to) => {
      await runConcurrently(from, to, (at) => queue.add('agent', { id: idOf(at), swarm: runId }));
      await untilCompleted(redis, 'bull:bare:completed', before + to);
    };
  },
  async queue() {
    const { queue } = await store();
    const redis = new Redis(connection);
    const before = await redis.zcard(queueKey('completed'));
    return async (from, to) => {
      await runConcurrently(from, to, (at) =>
        queue.add({ id: idOf(at), swarm: runId, addedAt: 0, at: 2 }),
      );
      await untilCompleted(redis, queueKey('completed'), before + to);
    };
  },
  async whole() {
    const { sessions, queue } = await store();
    const session = await sessions.create(meta());
    const inbox = await sessions.mailbox(runId).open(LEAD);
    const lead = await session.journal(LEAD, null);
    let endedCount = 0;
    const listeners = new Set<() => void>();
    const untilEnded = async (count: number) => {
      while (endedCount < count) await new Promise<void>((resolve) => listeners.add(resolve));
    };
    const handleEnd = async (letter: string, agent: string) => {
      await sessions.readJournal(runId, agent);
      lead.append({ type: 'letter.received', letter: `r_${agent}`, from: agent, raw: content });
      await lead.sync();
      await inbox.acknowledge(letter);
      endedCount += 1;
      for (const listener of listeners) listener();
      listeners.clear();
    };
    const listen = async () => {
      const { signal } = new AbortController();
      for (;;) {
        const letter = await inbox.next(signal);
        if (letter === undefined) return;
        void handleEnd(letter.id, (letter.body as { agent: string }).agent);
      }
    };
    void listen();
    return async (from, to) => {
      await runConcurrently(from, to, async (at) => {
        const id = idOf(at);
        // A mailbox holds at most a thousand letters.
        await untilEnded(at - MAX_UNFINISHED);
        const journal = await session.journal(id, LEAD);
        const begun = { agent: id, parent: LEAD, cwd: '/', model: 'none', prompt: 'none' };
        journal.append({ type: 'agent.created', ...begun });
        journal.append({ type: 'letter.received', letter: `l_${id}`, from: LEAD, raw: content });
        await session.closeJournal(id);
        await queue.add({ id, swarm: runId, addedAt: Date.now(), at: 2 });
      });
      await untilEnded(to);
    };
  },
};

const begin = async (): Promise<JobFigures> => {
  const runJobs = await jobRunners[kind]?.();
  if (runJobs === undefined) throw new Error(`There is no kind ${kind}.`);
  await runJobs(0, WARM_UP);
  const began = performance.now();
  await runJobs(WARM_UP, all);
  return { perJob: ((performance.now() - began) * 1_000) / Number(count) };
};

if ((role as Role) === 'answers') {
  await answer();
  printLine('ready');
} else printLine(JSON.stringify(await begin()));
