/** Hands agents to other processes as jobs, and exchanges their messages through the mailbox. */

import type { AgentMail } from '../../protocol/agent/agent-mail.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { Clock } from '../../protocol/clock.js';
import type { EnqueueOptions, JobQueue, QueuedJob } from '../../protocol/session/job-queue.js';
import type { Fence, Mailbox } from '../../protocol/session/mailbox.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { type ReceiveMail, readMailbox } from '../messages/read-mailbox.js';

export class RemoteDispatch {
  /** Jobs of agents that were handed to this process. */
  readonly jobsHere = new Map<string, Pick<QueuedJob, 'at' | 'handover'>>();
  private readonly jobs: JobQueue;
  private readonly mailbox: Mailbox;
  private readonly session: Pick<OwnedSession, 'meta' | 'fenceOf' | 'takeBack'>;
  private readonly swarm: string;
  private readonly owner: string;
  private readonly clock: Clock;
  private readonly queueing: EnqueueOptions;
  private readonly sign: Sign | undefined;
  /** Length of the journal at the hand-over, by agent. */
  private readonly handedAt = new Map<string, number>();
  /** Number of jobs that this process has queued. */
  private queuedJobs = 0;
  /** Value of `queuedJobs` after the last hand-over of each agent. */
  private readonly queuedAs = new Map<string, number>();
  private listedJobs: ListedJobs | undefined;
  /** Open mailbox readers, by agent. */
  private readonly readers = new Map<string, Reader>();

  constructor(
    store: Pick<SessionStore, 'jobs' | 'mailbox'>,
    session: Pick<OwnedSession, 'meta' | 'fenceOf' | 'takeBack'>,
    owner: string,
    clock: Clock,
    queueing: EnqueueOptions = NO_DELAY,
    sign?: Sign,
  ) {
    this.queueing = queueing;
    this.sign = sign;
    this.jobs = store.jobs;
    this.session = session;
    this.mailbox = store.mailbox(session.meta.id);
    this.swarm = session.meta.id;
    this.owner = owner;
    this.clock = clock;
  }

  /**
   * Queues an agent whose journal has `at` records. Idempotent for the same `at`. `ancestor` is the agent that was
   * handed to this process, if another process runs the lead. Waits while the store is away.
   */
  async enqueue(id: string, at: number, ancestor?: string): Promise<void> {
    const { priority, delayMs } = this.queueing;
    const addedAt = this.clock.now();
    const handover = this.sign?.(id, at) ?? this.jobsHere.get(ancestor ?? '')?.handover;
    await this.jobs.add({
      id,
      swarm: this.swarm,
      addedAt,
      at,
      priority,
      ...(handover !== undefined && { handover }),
      ...(delayMs > 0 && { notBefore: addedAt + delayMs }),
    });
    this.handedAt.set(id, at);
    this.queuedJobs += 1;
    this.queuedAs.set(id, this.queuedJobs);
  }

  /** Removes a queued agent, so that this process may journal its end. Resolves with false if a worker runs it. */
  async withdraw(id: string): Promise<boolean> {
    const { swarm } = this;
    const at = await this.journalLengthOf(id);
    const isFree = await this.jobs.withdraw({ id, swarm, ...(at !== undefined && { at }) });
    // The lease of a dead worker outlives its lock.
    if (isFree) await this.session.takeBack(id);
    return isFree;
  }

  /** Asks the process that runs the agent to stop it. Does not affect a later hand-over of the agent. */
  async stop(id: string, stop: Stop): Promise<void> {
    const at = await this.journalLengthOf(id);
    const name = `stop_${id}_${at ?? 0}_${stop.reason}`;
    await this.post(id, name, { type: 'stop', ...stop, ...(at !== undefined && { at }) });
  }

  private async journalLengthOf(id: string): Promise<number | undefined> {
    const handedAt = this.handedAt.get(id);
    if (handedAt !== undefined) return handedAt;
    return (await this.jobs.list(this.swarm)).find((job) => job.id === id)?.at;
  }

  /** Resolves with the queued and running agents of the swarm, with their worker. */
  async handedOver(): Promise<ReadonlyMap<string, string | undefined>> {
    const jobs = await this.jobs.list(this.swarm);
    return new Map(jobs.map(({ id, worker }) => [id, worker]));
  }

  /**
   * True if the agent is queued for a worker or runs on a worker. The list of jobs is at most a second old, and
   * never older than the last hand-over of the agent: an agent with two jobs would run twice.
   */
  async isHandedOver(id: string): Promise<boolean> {
    const now = this.clock.now();
    const { listedJobs, queuedJobs } = this;
    const isCurrent =
      listedJobs !== undefined &&
      listedJobs.at >= now - JOB_LIST_TTL_MS &&
      listedJobs.queuedJobs >= (this.queuedAs.get(id) ?? 0);
    const current = isCurrent ? listedJobs : { at: now, queuedJobs, jobs: this.handedOver() };
    this.listedJobs = current;
    return (await current.jobs).has(id);
  }

  /**
   * Sends mail. Idempotent for the same id. Rejects with UsageError, and with StorageError if another process
   * owns the sending agent.
   */
  post(to: string, id: string, mail: AgentMail): Promise<void> {
    const sentAt = this.clock.now();
    const fence = this.session.fenceOf(senderOf(mail) ?? this.session.meta.lead);
    return this.mailbox.send({ id, from: this.owner, to, sentAt, body: mail }, fence);
  }

  /** Reads the mailbox of an agent that this process runs, until `stopReadingMailbox` or until `written` rejects. */
  readMailbox(id: string, receive: ReceiveMail, written: Written): void {
    if (this.readers.has(id)) return;
    const over = new AbortController();
    const reading = this.read(id, receive, written, over.signal).finally(() => {
      if (this.readers.get(id) === reader) this.readers.delete(id);
    });
    const reader: Reader = { over, reading };
    this.readers.set(id, reader);
  }

  /** Resolves when the mailbox is closed. Idempotent. Never rejects. */
  async stopReadingMailbox(id: string): Promise<void> {
    const reader = this.readers.get(id);
    this.readers.delete(id);
    reader?.over.abort();
    await reader?.reading;
  }

  async close(): Promise<void> {
    await Promise.all([...this.readers.keys()].map((id) => this.stopReadingMailbox(id)));
    await this.mailbox.close();
  }

  /**
   * Reads until the signal aborts. Reopens the mailbox after a refusal of the store or of a letter, because other
   * letters may still arrive. Ends if another process reads the mailbox.
   */
  private async read(
    id: string,
    receive: ReceiveMail,
    written: Written,
    signal: AbortSignal,
  ): Promise<void> {
    // The first fence, because another process may own the agent later.
    const fence = this.session.fenceOf(id);
    while (!signal.aborted) {
      try {
        return await this.readOnce(id, fence, receive, signal);
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error;
      }
      // Unacknowledged letters are for the next owner, because every delivery is counted.
      if (!(await isWritable(written, signal))) return;
      await this.pause(signal);
    }
  }

  private async readOnce(
    id: string,
    fence: Fence | undefined,
    receive: ReceiveMail,
    signal: AbortSignal,
  ): Promise<void> {
    const inbox = await this.mailbox.open(id, fence);
    try {
      await readMailbox(inbox, receive, signal);
    } finally {
      await inbox.close();
    }
  }

  private async pause(signal: AbortSignal): Promise<void> {
    const { clock } = this;
    let cancelTimer = () => {};
    const over = new Promise<void>((resolve) => {
      cancelTimer = clock.wakeAt(clock.now() + REOPEN_MS, resolve, false);
    });
    await orAborted(over, signal);
    cancelTimer();
  }
}

/** Resolves when the journal is written. */
type Written = () => Promise<void> | undefined;

/** Delay between two attempts to read. */
const REOPEN_MS = 1_000;

const isWritable = (written: Written, signal: AbortSignal): Promise<boolean> =>
  orAborted(written() ?? Promise.resolve(), signal).then(
    () => !signal.aborted,
    () => false,
  );

/** Resolves when the work ends or the signal aborts. A later rejection of the work is handled. */
const orAborted = async (work: Promise<void>, signal: AbortSignal): Promise<void> => {
  let onAbort = () => {};
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve;
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  await Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
};

/** Returns the agent that sends the mail. Returns undefined for mail of the process itself. */
const senderOf = (mail: AgentMail): string | undefined => {
  switch (mail.type) {
    case 'ended':
      return mail.agent;
    case 'letter':
      return mail.from;
    case 'stop':
      return undefined;
  }
};

/** Signs the hand-over of an agent. Returns undefined if no signature is needed. */
type Sign = (agent: string, at: number) => string | undefined;

/** Lifetime of the list of jobs, because many agents are looked up at once. */
const JOB_LIST_TTL_MS = 1_000;

interface ListedJobs {
  readonly at: number;
  /** Number of jobs that this process had queued before the list was requested. */
  readonly queuedJobs: number;
  readonly jobs: Promise<ReadonlyMap<string, unknown>>;
}

const NO_DELAY: EnqueueOptions = { priority: 0, delayMs: 0 };

interface Reader {
  readonly over: AbortController;
  readonly reading: Promise<void>;
}
