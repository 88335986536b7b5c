/** Whom an agent works for and who works for it, folded from its journal. */

import { CHILD_SENDER, type ChildKind } from '../../protocol/agent/swarm.js';
import { ANSWER } from '../../protocol/agent/team-message.js';
import type { RawJson } from '../../protocol/model/wire.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import type { Origin } from '../../protocol/session/swarm-records.js';
import type { ToolNote } from '../../protocol/tools/tool.js';
import type { ClonedPlace, Settlement, WorktreePlace } from '../../protocol/tools/worktree.js';

/** What the forks of one message read in place of its results, and where that is on record. */
export interface Offer {
  readonly seq: number;
  /** Blocks with commas between them. */
  readonly blocks: RawJson;
}

const WRITERS: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);

export interface WorktreeEnd {
  readonly outcome: Settlement;
  readonly diff?: string | undefined;
}

export class AgentRelations {
  /** Null for a lead. */
  origin: Origin | null = null;
  /** All that ever worked for it, by id. */
  readonly children = new Map<string, ChildKind>();
  /** Somebody worked for it, perhaps in what was rewound since: that happened and was paid for. */
  isParent = false;
  /** By the call of the newest message that asked for them: a call that is taken up again finds its child. */
  readonly asked = new Map<string, string>();
  /** Letters in which background children reported; each counts once. */
  readonly reports = new Set<string>();
  /** Of the newest message; null once its results are in the history. */
  offer: Offer | null = null;
  /** It could only plan, and may carry its plan out now. */
  isPlanApproved = false;
  /** Letters of its that answer a request, but for those that were not delivered: an answer counts once. */
  readonly answers = new Set<string>();
  /** By the call of the newest message that wrote them: a call that is taken up again may write its own. */
  private readonly answering = new Map<string, string>();
  /** What became of the work in its worktree when it last ended or rested; null while it works. */
  settled: WorktreeEnd | null = null;
  /** Where it works, of one that was taken to a machine without its lead's workspace. */
  cloned: ClonedPlace | undefined;
  /** The commit of its that was last merged. */
  mergedAt: string | undefined;
  /** Files that it wrote with tools that write nothing else. */
  readonly writtenFiles = new Set<string>();
  /** Files that its calls changed, as far as that was seen. */
  readonly changedFiles = new Set<string>();

  apply(record: JournalRecord): void {
    switch (record.type) {
      case 'agent.created':
        this.origin = record.origin ?? null;
        break;
      case 'agent.requested':
        this.isParent = true;
        this.children.set(record.child, record.kind);
        this.asked.set(record.call, record.child);
        break;
      case 'letter.received':
        if (record.from === CHILD_SENDER) this.reports.add(record.letter);
        break;
      case 'run.started':
        this.settled = null;
        break;
      case 'call.ended':
        if (WRITERS.has(record.tool)) this.write(record.notes ?? []);
        break;
      case 'agent.moved':
        this.cloned = record.to;
        break;
      case 'worktree.settled':
        this.settle(record);
        break;
      case 'letter.sent':
        if (!record.letter.startsWith(ANSWER)) break;
        this.answers.add(record.letter);
        this.answering.set(record.letter, record.call);
        break;
      case 'letter.undelivered':
        this.answers.delete(record.letter);
        break;
      case 'plan.approved':
        this.isPlanApproved = true;
        break;
      case 'fork.offered':
        this.offer = { seq: record.seq, blocks: record.raw.slice(1, -1) };
        break;
      case 'files.changed':
        for (const { path } of record.changes) this.changedFiles.add(path);
        break;
      case 'user.sent':
        this.offer = null;
        this.asked.clear();
        this.answering.clear();
        break;
      default:
        break;
    }
  }

  /** Its own folder, of one that has one. */
  get place(): WorktreePlace | undefined {
    return this.cloned?.place ?? this.origin?.worktree;
  }

  /** By another call than this one of the newest message. */
  hasAnswered(letter: string, call: string): boolean {
    return this.answers.has(letter) && this.answering.get(letter) !== call;
  }

  private write(notes: readonly ToolNote[]): void {
    for (const note of notes) if (note.type === 'file.seen') this.writtenFiles.add(note.path);
  }

  private settle({ outcome, diff }: WorktreeEnd): void {
    this.settled = { outcome, diff };
    if (outcome.kind !== 'merged') return;
    this.mergedAt = outcome.commit;
    const top = this.place?.top ?? '';
    for (const file of outcome.files) this.changedFiles.add(`${top}/${file}`);
  }
}
