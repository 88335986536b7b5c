/** A worker: takes background agents of any swarm from the queue, and works on them as their leads would. */
import { systemClock } from '../../protocol/clock.js';
import { SkeinError, StorageError, UsageError } from '../../protocol/errors.js';
import type { ConsumeOptions, JobHandler, JobQueue } from '../../protocol/session/job-queue.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { openStore } from '../assembly/options/open-store.js';
import { JobBackoff } from './job-backoff.js';
import { recordRefusal } from './record-refusal.js';
import { refusalText, WorkerSwarms, type WorkerSwarmsOptions } from './worker-swarms.js';

export interface WorkerOptions extends WorkerSwarmsOptions {
  readonly rate?: ConsumeOptions['rate'];
  /** Told what happens, for people. */
  readonly said: (news: WorkerNews) => void;
}

export type WorkerNews = AgentNews | OutageNews | OddJobNews;

/** Something that is no job of an agent, by its name in the queue. */
interface OddJobNews {
  readonly what: 'put aside';
  readonly job: string;
  readonly why: string;
}

/** All that it has waits while Redis is away. */
type OutageNews =
  | { readonly what: 'waiting'; readonly why: string }
  | { readonly what: 'going on' };

export type AgentNews = { readonly swarm: string; readonly agent: string } & (
  | { readonly what: 'begun'; readonly attempts: number }
  | { readonly what: 'ended' }
  | { readonly what: 'given back' | 'put aside'; readonly why: string }
);

export interface Worker {
  /** What it is called where people see who works on a job. */
  readonly name: string;
  readonly busy: number;
  /** Takes no more, lets calls under way end for a moment, and gives the rest back. */
  close(): Promise<void>;
}

/** Rejects with a UsageError when there is no queue to take anything from, or it may not be written. */
export const openWorker = async (options: WorkerOptions): Promise<Worker> => {
  const store = await openStore(options.machine, options.flags);
  const { sessions, choice } = store;
  if (choice.kind !== 'redis') {
    await sessions.close();
    throw new UsageError(
      'A worker takes agents from a queue in Redis: set SKEIN_REDIS_URL, or give --store.',
    );
  }
  const outposts = new WorkerSwarms(options, store);
  const forget = sessions.outages?.listen((why) =>
    options.said(why === undefined ? { what: 'going on' } : { what: 'waiting', why }),
  );
  const pauses = new JobBackoff(systemClock);
  const hasNewcomer = newcomersTo(sessions.jobs);
  const work: JobHandler = async (job) => {
    const { swarm, id: agent, attempts } = job;
    const name = `${swarm} ${agent}`;
    const putOff = (why: string) => {
      options.said({ swarm, agent, what: 'given back', why });
      return { laterMs: pauses.next(name) };
    };
    const refused = async (why: string): ReturnType<JobHandler> => {
      if (!(await isUnknown(sessions, swarm))) {
        if (await hasNewcomer()) pauses.forgetAll();
        return { ...putOff(why), isUnbegun: true };
      }
      const never = `There is no session "${swarm}".`;
      options.said({ swarm, agent, what: 'put aside', why: never });
      return { never };
    };
    const known = outposts.refusalOf(swarm);
    if (known !== undefined) return refused(known);
    options.said({ swarm, agent, what: 'begun', attempts });
    try {
      const end = await outposts.work(job);
      if (end !== 'done' && end.laterMs > 0) return putOff(end.why);
      pauses.forget(name);
      if (end === 'done') options.said({ swarm, agent, what: 'ended' });
      else options.said({ swarm, agent, what: 'given back', why: end.why });
      return end;
    } catch (error) {
      await recordRefusal(sessions, job, error, store.owner);
      return refused(refusalText(error));
    }
  };
  const { concurrency, rate } = options;
  const putAside = (odd: string, why: string) => options.said({ what: 'put aside', job: odd, why });
  const terms = { concurrency, putAside, ...(rate !== undefined && { rate }) };
  const letGo = async () => {
    await outposts.close();
    forget?.();
    await sessions.close();
  };
  const begin = async () => {
    try {
      return await sessions.jobs.consume(store.owner, terms, work);
    } catch (error) {
      await letGo();
      if (!(error instanceof StorageError)) throw error;
      throw new UsageError(`No worker can begin here. ${error.message}`, { cause: error });
    }
  };
  const workplace = await begin();
  return {
    name: store.owner,
    get busy() {
      return workplace.busy;
    },
    async close() {
      await workplace.close();
      await letGo();
    },
  };
};

/** Whether a worker has come since it was last asked, who may be able to do what this one cannot. */
const newcomersTo = (jobs: Pick<JobQueue, 'workers'>): (() => Promise<boolean>) => {
  let known: ReadonlySet<string> = new Set();
  return async () => {
    const now = (await jobs.workers?.()) ?? [];
    const hasNew = now.some(({ name }) => !known.has(name));
    known = new Set(now.map(({ name }) => name));
    return hasNew;
  };
};

/** Nothing is on record of it: it was removed, or somebody made it up. */
const isUnknown = async (
  sessions: Pick<SessionStore, 'agents'>,
  swarm: string,
): Promise<boolean> => {
  try {
    return (await sessions.agents(swarm)).length === 0;
  } catch (error) {
    // Who cannot look does not know.
    if (!(error instanceof SkeinError)) throw error;
    return false;
  }
};
