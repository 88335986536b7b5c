/** Worker process: takes background agents of any swarm from the queue and runs them. */

import { isRefusedByStore } from '../../actors/worker/worker-swarm.js';
import type { StopReason } from '../../protocol/agent/stop.js';
import { systemClock } from '../../protocol/clock.js';
import type { ConsumeOptions, JobHandler, JobQueue } from '../../protocol/session/job-queue.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import {
  SkeinError,
  StorageError,
  UncheckedStoreError,
  UsageError,
} from '../../protocol/skein-error.js';
import { openStore } from '../assembly/options/open-store.js';
import { afterFailedStart } from './after-failed-start.js';
import { JobBackoff } from './job-backoff.js';
import { recordRefusal } from './record-refusal.js';
import { refusalText, WorkerSwarms, type WorkerSwarmsOptions } from './worker-swarms.js';

interface WorkerOptions extends WorkerSwarmsOptions {
  readonly rate?: ConsumeOptions['rate'];
  /** Called with news to print. */
  readonly onNews: (news: WorkerNews) => void;
  /** Called with the name of the worker before the first news. */
  readonly onName?: (name: string) => void;
}

/** News of a worker. `skein worker --json` prints it, so fields and values are a contract. */
export type WorkerNews = AgentNews | OutageNews | InvalidJobNews;

/** A queue entry that is not the job of an agent was removed. */
interface InvalidJobNews {
  readonly what: 'put aside';
  readonly job: string;
  readonly why: string;
}

/** Redis became unreachable or reachable again. The worker's agents wait meanwhile. */
type OutageNews =
  | { readonly what: 'waiting'; readonly why: string }
  | { readonly what: 'going on' };

export type AgentNews = { readonly swarm: string; readonly agent: string } & (
  | { readonly what: 'begun'; readonly attempts: number }
  /** `stop` is the reason why the run ended. Null if only the journal knows it. */
  | { readonly what: 'ended'; readonly stop: StopReason | null }
  | { readonly what: 'given back' | 'put aside'; readonly why: string }
);

export interface Worker {
  /** Name of the worker in lists of jobs. */
  readonly name: string;
  readonly busy: number;
  /** Takes no more jobs, lets running calls end for a moment, and returns the other jobs to the queue. */
  close(): Promise<void>;
}

/** Delay before another attempt while the lead checks the store, in ms. */
const UNCHECKED_MS = 1_000;

/** Rejects with UsageError if there is no queue in Redis, or it cannot be written. */
export const openWorker = async (options: WorkerOptions): Promise<Worker> => {
  const store = await openStore(options.host, options.flags);
  const { sessions, choice } = store;
  if (choice.kind !== 'redis') {
    await sessions.close();
    throw new UsageError(
      'A worker takes agents from a queue in Redis: set SKEIN_REDIS_URL, or give --store.',
    );
  }
  options.onName?.(store.owner);
  const swarms = new WorkerSwarms(options, store);
  const stopListening = sessions.outages?.listen((why) =>
    options.onNews(why === undefined ? { what: 'going on' } : { what: 'waiting', why }),
  );
  const backoff = new JobBackoff(systemClock);
  const hasNewWorker = newWorkerDetector(sessions.jobs);
  /** Swarms whose lead has to check the store. Reported once, because many agents may wait for it. */
  const unchecked = new Set<string>();
  const waitForLead = (swarm: string, agent: string, why: string) => {
    if (!unchecked.has(swarm)) options.onNews({ swarm, agent, what: 'given back', why });
    unchecked.add(swarm);
    return { laterMs: UNCHECKED_MS, notStarted: true };
  };
  const work: JobHandler = async (job) => {
    const { swarm, id: agent, attempts } = job;
    const name = `${swarm} ${agent}`;
    const returnLater = (why: string) => {
      options.onNews({ swarm, agent, what: 'given back', why });
      return { laterMs: backoff.next(name) };
    };
    const failed = (why: string): Awaited<ReturnType<JobHandler>> => {
      const end = afterFailedStart(job, why);
      if (end === undefined) return { ...returnLater(why), isFailure: true };
      options.onNews({ swarm, agent, what: 'put aside', why: end.never });
      return end;
    };
    const refused = async (why: string): ReturnType<JobHandler> => {
      if (!(await isUnknown(sessions, swarm))) {
        // A new worker may be able to run the jobs that this worker refuses.
        if (await hasNewWorker()) backoff.forgetAll();
        return { ...returnLater(why), notStarted: true };
      }
      const never = `There is no session "${swarm}".`;
      options.onNews({ swarm, agent, what: 'put aside', why: never });
      return { never };
    };
    const refusal = swarms.refusalOf(swarm);
    if (refusal !== undefined) return refused(refusal);
    options.onNews({ swarm, agent, what: 'begun', attempts });
    try {
      const end = await swarms.work(job);
      unchecked.delete(swarm);
      if (end !== 'done' && end.isRefused) return failed(end.why);
      if (end !== 'done' && end.laterMs > 0) return returnLater(end.why);
      backoff.forget(name);
      if (end === 'done')
        options.onNews({ swarm, agent, what: 'ended', stop: await swarms.stopReason(job) });
      else options.onNews({ swarm, agent, what: 'given back', why: end.why });
      return end;
    } catch (error) {
      if (error instanceof UncheckedStoreError) return waitForLead(swarm, agent, error.message);
      if (isRefusedByStore(error)) return failed(error.message);
      await recordRefusal(sessions, job, error, store.owner);
      return refused(refusalText(error));
    }
  };
  const { concurrency, rate } = options;
  const onInvalidJob = (entry: string, why: string) =>
    options.onNews({ what: 'put aside', job: entry, why });
  const consumeOptions: ConsumeOptions = {
    concurrency,
    onInvalidJob,
    ...(rate !== undefined && { rate }),
  };
  const closeStore = async () => {
    await swarms.close();
    stopListening?.();
    await sessions.close();
  };
  const startConsumer = async () => {
    try {
      return await sessions.jobs.consume(store.owner, consumeOptions, work);
    } catch (error) {
      await closeStore();
      if (!(error instanceof StorageError)) throw error;
      throw new UsageError(`The worker cannot start. ${error.message}`, { cause: error });
    }
  };
  const consumer = await startConsumer();
  return {
    name: store.owner,
    get busy() {
      return consumer.busy;
    },
    async close() {
      await consumer.close();
      await closeStore();
    },
  };
};

/** Returns a function that is true if a worker has joined since its last call. */
const newWorkerDetector = (jobs: Pick<JobQueue, 'workers'>): (() => Promise<boolean>) => {
  let known: ReadonlySet<string> = new Set();
  return async () => {
    const now = (await jobs.workers?.()) ?? [];
    const hasNew = now.some(({ name }) => !known.has(name));
    known = new Set(now.map(({ name }) => name));
    return hasNew;
  };
};

/** True if the store has no session with that id. False if the store cannot be read. */
const isUnknown = async (
  sessions: Pick<SessionStore, 'agents'>,
  swarm: string,
): Promise<boolean> => {
  try {
    return (await sessions.agents(swarm)).length === 0;
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    return false;
  }
};
