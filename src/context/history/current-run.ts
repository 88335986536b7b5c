/**
 * The run that limits are counted for, folded from a journal. One that goes on after a crash is the same
 * run, and one that began because an agent reported belongs to the run before it; a person's prompt
 * begins another, and so does whoever takes up an agent that had ended.
 */
import type { JournalRecord } from '../../protocol/session/journal.js';

export class CurrentRun {
  /** The number that it began with; 0 before there was one. */
  first = 0;
  /** A process died in it. */
  isUnfinished = false;
  /** Turns that were taken in it. */
  turns = 0;
  private isNext = true;
  private prompts = 0;
  /** Those that a run has begun with, or that were there when this process came. */
  private counted = 0;

  apply(record: JournalRecord): void {
    switch (record.type) {
      case 'letter.received':
        if (record.from === 'user') this.prompts += 1;
        break;
      case 'epoch.began':
        this.counted = this.prompts;
        this.isNext ||= !this.isUnfinished;
        break;
      case 'run.started':
        if (this.isNext || this.prompts !== this.counted) this.begin(record.run);
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
        this.isNext = true;
        break;
      default:
        break;
    }
  }

  private begin(run: number): void {
    this.first = run;
    this.turns = 0;
    this.counted = this.prompts;
    this.isNext = false;
  }
}
