/**
 * Current run for limits, folded from a journal. A run that resumes after a crash is the same run,
 * and a run that a child's report started belongs to the run before it. A person's prompt or the
 * restart of an ended agent starts a new run.
 */
import type { JournalRecord } from '../../protocol/session/journal-record.js';

export class CurrentRun {
  /** Number of the first run that counts; 0 before the first run. */
  first = 0;
  /** True from the start of a run to its end, so also after a crash. */
  isUnfinished = false;
  /** Turns in this run. */
  turns = 0;
  private startsNewRun = true;
  private prompts = 0;
  /** Prompts before the start of the run or of this process. */
  private counted = 0;

  apply(record: JournalRecord): void {
    switch (record.type) {
      case 'letter.received':
        if (record.from === 'user') this.prompts += 1;
        break;
      case 'epoch.began':
        this.counted = this.prompts;
        this.startsNewRun ||= !this.isUnfinished;
        break;
      case 'run.started':
        if (this.startsNewRun || this.prompts !== this.counted) this.begin(record.run);
        this.isUnfinished = true;
        break;
      case 'assistant.received':
        this.turns += 1;
        break;
      case 'run.ended':
        this.isUnfinished = false;
        break;
      case 'session.rewound':
        this.isUnfinished = false;
        this.startsNewRun = true;
        break;
      default:
        break;
    }
  }

  private begin(run: number): void {
    this.first = run;
    this.turns = 0;
    this.counted = this.prompts;
    this.startsNewRun = false;
  }
}
