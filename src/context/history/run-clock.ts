/**
 * How long an agent has been at work in its run, when it crashed, and whether one that has ended is to go on,
 * folded from its journal. Time in which nobody ran it does not count: of a process that died it is known
 * when it last wrote.
 */
import { HOOK_SENDER } from '../../protocol/permission/hooks.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import { JOB_SENDER } from '../../protocol/tools/shell-jobs.js';

/** Older crashes matter to nobody. */
const MOST_CRASHES = 16;

export class RunClock {
  /** When it was begun again after a crash, the newest last. */
  crashes: readonly number[] = [];
  /** It had ended for good, and was written to or is waiting for a place since: nobody has begun it yet. */
  isCalledBack = false;
  private hasEnded = false;
  private before = 0;
  /** When the present stretch of work began; null while it does not work. */
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
        this.isCalledBack = false;
        break;
      case 'run.ended':
        this.since = null;
        this.before = 0;
        this.hasEnded = record.final;
        this.isCalledBack = false;
        break;
      case 'letter.received':
        // Those wake nobody.
        if (record.from !== JOB_SENDER && record.from !== HOOK_SENDER) this.callBack();
        break;
      case 'agent.queued':
        // A worker that names itself has only said why it cannot work on it.
        if (record.worker === undefined) this.callBack();
        break;
      case 'agent.restarted':
        this.pause(ts);
        this.crashes = [...this.crashes, ts].slice(-MOST_CRASHES);
        break;
      default:
        break;
    }
  }

  /** It has ended for good, and nobody wants more of it. */
  get isOver(): boolean {
    return this.hasEnded && !this.isCalledBack;
  }

  /** Milliseconds, with those before a crash. */
  workedBy(now: number): number {
    return this.before + (this.since === null ? 0 : Math.max(0, now - this.since));
  }

  private callBack(): void {
    this.isCalledBack ||= this.hasEnded;
  }

  private pause(at: number): void {
    this.before = this.workedBy(at);
    this.since = null;
  }
}
