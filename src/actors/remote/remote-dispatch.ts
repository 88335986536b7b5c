/**
 * The way to agents that other processes work on: they are handed over as jobs, and what is said to and by
 * them goes through the mailbox. There where one process runs a whole swarm there is none.
 */
import type { Stop } from '../../protocol/agent/agent.js';
import type { AgentMail } from '../../protocol/agent/agent-mail.js';
import type { Clock } from '../../protocol/clock.js';
import { SkeinError } from '../../protocol/errors.js';
import type { JobQueue, QueuedJob, Queueing } from '../../protocol/session/job-queue.js';
import type { Fence, Mailbox } from '../../protocol/session/mailbox.js';
import type { Session, SessionStore } from '../../protocol/session/store.js';
import { type Receive, readMail } from '../messages/read-mailbox.js';

export class RemoteDispatch {
  /** Agents that were handed to this process, which works on them itself. */
  readonly ours = new Map<string, Pick<QueuedJob, 'at' | 'handover'>>();
  private readonly jobs: JobQueue;
  private readonly mailbox: Mailbox;
  private readonly session: Pick<Session, 'meta' | 'fenceOf' | 'reclaim'>;
  private readonly swarm: string;
  private readonly worker: string;
  private readonly clock: Clock;
  private readonly queueing: Queueing;
  private readonly sign: Sign | undefined;
  /** By agent that this process handed over: how long its journal was then. */
  private readonly handedAt = new Map<string, number>();
  /** By agent: what reads its mail here. */
  private readonly readers = new Map<string, Reader>();

  constructor(
    store: Pick<SessionStore, 'jobs' | 'mailbox'>,
    session: Pick<Session, 'meta' | 'fenceOf' | 'reclaim'>,
    worker: string,
    clock: Clock,
    queueing: Queueing = AT_ONCE,
    sign?: Sign,
  ) {
    this.queueing = queueing;
    this.sign = sign;
    this.jobs = store.jobs;
    this.session = session;
    this.mailbox = store.mailbox(session.meta.id);
    this.swarm = session.meta.id;
    this.worker = worker;
    this.clock = clock;
  }

  /**
   * Somebody will go on with it where its journal ends; the same again changes nothing. `above`: an agent of
   * ours that it works for, where its lead is elsewhere. Waits for the store.
   */
  async hand(id: string, at: number, above?: string): Promise<void> {
    const { priority, delayMs } = this.queueing;
    const addedAt = this.clock.now();
    const handover = this.sign?.(id, at) ?? this.ours.get(above ?? '')?.handover;
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
  }

  /** Nobody will, and this process may write its end. False when somebody works on it, or it was not handed over. */
  async withdraw(id: string): Promise<boolean> {
    const { swarm } = this;
    const at = await this.jobOf(id);
    const isFree = await this.jobs.withdraw({ id, swarm, ...(at !== undefined && { at }) });
    // The lease of a worker that died outlives its lock.
    if (isFree) await this.session.reclaim(id);
    return isFree;
  }

  /** Whoever works on it ends it; a job that it is handed over with later is not meant. */
  async stop(id: string, stop: Stop): Promise<void> {
    const at = await this.jobOf(id);
    const name = `stop_${id}_${at ?? 0}_${stop.reason}`;
    await this.post(id, name, { type: 'stop', ...stop, ...(at !== undefined && { at }) });
  }

  private async jobOf(id: string): Promise<number | undefined> {
    const known = this.handedAt.get(id);
    if (known !== undefined) return known;
    return (await this.jobs.list(this.swarm)).find((job) => job.id === id)?.at;
  }

  /** Those that wait for somebody, or that somebody works on. */
  async handed(): Promise<ReadonlyMap<string, string | undefined>> {
    const jobs = await this.jobs.list(this.swarm);
    return new Map(jobs.map(({ id, worker }) => [id, worker]));
  }

  /**
   * Once under one id, however often it is said. Rejects with a UsageError, and with a StorageError when
   * somebody else has the agent that says it.
   */
  post(to: string, id: string, mail: AgentMail): Promise<void> {
    const sentAt = this.clock.now();
    const fence = this.session.fenceOf(speakerOf(mail) ?? this.session.meta.lead);
    return this.mailbox.send({ id, from: this.worker, to, sentAt, body: mail }, fence);
  }

  /**
   * Reads the mail of an agent that this process works on, until `leave`, or until nothing can be written for
   * it here: `written` rejects then.
   */
  host(id: string, receive: Receive, written: Written): void {
    if (this.readers.has(id)) return;
    const over = new AbortController();
    const reading = this.read(id, receive, written, over.signal).finally(() => {
      if (this.readers.get(id) === reader) this.readers.delete(id);
    });
    const reader: Reader = { over, reading };
    this.readers.set(id, reader);
  }

  /** Resolves when nothing of it is read here any more. Harmless when nothing was. Never rejects. */
  async leave(id: string): Promise<void> {
    const reader = this.readers.get(id);
    this.readers.delete(id);
    reader?.over.abort();
    await reader?.reading;
  }

  async close(): Promise<void> {
    await Promise.all([...this.readers.keys()].map((id) => this.leave(id)));
    await this.mailbox.close();
  }

  /**
   * A store that refuses something now may take it later, and a letter that cannot be taken in is no reason
   * to be deaf to all others: so it is opened again. One that somebody else reads by now just ends.
   */
  private async read(
    id: string,
    receive: Receive,
    written: Written,
    signal: AbortSignal,
  ): Promise<void> {
    // The one that it began with: later it may be somebody else's.
    const fence = this.session.fenceOf(id);
    while (!signal.aborted) {
      try {
        return await this.readOnce(id, fence, receive, signal);
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error;
      }
      // What was not acknowledged is for whoever works on it next: each time that it is given counts.
      if (!(await isSound(written, signal))) return;
      await this.pause(signal);
    }
  }

  private async readOnce(
    id: string,
    fence: Fence | undefined,
    receive: Receive,
    signal: AbortSignal,
  ): Promise<void> {
    const inbox = await this.mailbox.open(id, fence);
    try {
      await readMail(inbox, receive, signal);
    } finally {
      await inbox.close();
    }
  }

  private async pause(signal: AbortSignal): Promise<void> {
    const { clock } = this;
    let forget = () => {};
    const over = new Promise<void>((resolve) => {
      forget = clock.wakeAt(clock.now() + REOPEN_MS, resolve, false);
    });
    await orAborted(over, signal);
    forget();
  }
}

/** As a notebook has it. */
type Written = () => Promise<void> | undefined;

/** Between two attempts to read. */
const REOPEN_MS = 1_000;

const isSound = (written: Written, signal: AbortSignal): Promise<boolean> =>
  orAborted(written() ?? Promise.resolve(), signal).then(
    () => !signal.aborted,
    () => false,
  );

/** What becomes of the work later is minded all the same. */
const orAborted = async (work: Promise<void>, signal: AbortSignal): Promise<void> => {
  let leave = () => {};
  const aborted = new Promise<void>((resolve) => {
    leave = resolve;
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
  });
  await Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', leave));
};

/** Undefined where it is nobody's own. */
const speakerOf = (mail: AgentMail): string | undefined => {
  switch (mail.type) {
    case 'ended':
      return mail.agent;
    case 'letter':
      return mail.from;
    case 'stop':
      return undefined;
  }
};

/** As the lead hands over an agent whose journal is so long; undefined where nobody asks for it. */
type Sign = (agent: string, at: number) => string | undefined;

const AT_ONCE: Queueing = { priority: 0, delayMs: 0 };

interface Reader {
  readonly over: AbortController;
  readonly reading: Promise<void>;
}
