/**
 * Run clock: working time of an agent in its run, its crashes, and whether an ended agent is to
 * resume, folded from its journal. Time without a process does not count: the last record of a dead
 * process ends its working time.
 */
import { HOOK_SENDER } from '../../protocol/permission/hooks.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import { JOB_SENDER } from '../../protocol/tools/shell-jobs.js';

/** Maximum remembered crashes. */
const MAX_CRASHES = 16;

export class RunClock {
  /** Times of restarts after a crash, newest last. */
  crashes: readonly number[] = [];
  /** True if an ended agent got a letter or was queued and has not started since. */
  isResumeDue = false;
  private hasEnded = false;
  private before = 0;
  /** Start of the current working time; null if the agent does not run. */
  private since: number | null = null;
  private last = 0;
  private epoch = 0;

  apply(record: JournalRecord): void {
    const { ts, epoch } = record;
    if (epoch !== this.epoch) this.pause(this.last);
    this.epoch = epoch;
    this.last = ts;
    switch (record.type) {
      case 'run.started':
        this.pause(ts);
        this.since = ts;
        this.hasEnded = false;
        this.isResumeDue = false;
        break;
      case 'run.ended':
        this.since = null;
        this.before = 0;
        this.hasEnded = record.final;
        this.isResumeDue = false;
        break;
      case 'letter.received':
        // Letters of jobs and hooks do not wake an agent.
        if (record.from !== JOB_SENDER && record.from !== HOOK_SENDER) this.requestResume();
        break;
      case 'agent.queued':
        // A record with a worker only says why that worker cannot run the agent.
        if (record.worker === undefined) this.requestResume();
        break;
      case 'agent.restarted':
        this.pause(ts);
        this.crashes = [...this.crashes, ts].slice(-MAX_CRASHES);
        break;
      default:
        break;
    }
  }

  /** True if the agent has ended and is not to resume. */
  get isOver(): boolean {
    return this.hasEnded && !this.isResumeDue;
  }

  /** Returns the working time at `now` in milliseconds, including time before a crash. */
  workedMsAt(now: number): number {
    return this.before + (this.since === null ? 0 : Math.max(0, now - this.since));
  }

  private requestResume(): void {
    this.isResumeDue ||= this.hasEnded;
  }

  private pause(at: number): void {
    this.before = this.workedMsAt(at);
    this.since = null;
  }
}
