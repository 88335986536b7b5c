/** Agent relations: parent, children, worktree and answered requests, folded from the journal. */

import type { ChildKind } from '../../protocol/agent/agent-tag.js';
import { CHILD_SENDER } from '../../protocol/agent/child-report.js';
import { ANSWER_PREFIX } from '../../protocol/agent/team-message.js';
import type { RawJson, WireBlock } from '../../protocol/model/wire-block.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { AgentOrigin } from '../../protocol/session/swarm-records.js';
import type { ToolNote } from '../../protocol/tools/tool.js';
import type {
  CloneLocation,
  Settlement,
  WorktreeLocation,
} from '../../protocol/tools/worktrees.js';

/** Blocks that the forks of a message read in place of its results, and their record. */
interface ForkOffer {
  readonly seq: number;
  /** Blocks joined by commas. */
  readonly blocks: RawJson;
}

const WRITERS: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);

interface WorktreeEnd {
  readonly outcome: Settlement;
  readonly diff?: string | undefined;
}

export class AgentRelations {
  /** Null for a lead. */
  origin: AgentOrigin | null = null;
  /** Kinds of all children ever started, by id. */
  readonly children = new Map<string, ChildKind>();
  /** True if the agent ever started a child, even if a rewind removed the record. */
  isParent = false;
  /** Children by the Task call of the newest message, so that a repeated call finds its child. */
  readonly childByCall = new Map<string, string>();
  /** Letters with reports of background children. */
  readonly reports = new Set<string>();
  /** Offer of the newest message; null once its results are in the history. */
  offer: ForkOffer | null = null;
  /** True if the agent's plan was approved, which ends its plan mode. */
  isPlanApproved = false;
  /** Delivered letters that answer a request, because a request takes one answer. */
  readonly answers = new Set<string>();
  /**
   * Answers by letter with their call in the newest message, because a repeated call may answer
   * again.
   */
  private readonly answeredByCall = new Map<string, string>();
  /** Outcome of the worktree when the agent last ended or became idle; null while it runs. */
  settled: WorktreeEnd | null = null;
  /** Clone of an agent on a machine without its lead's workspace. */
  cloned: CloneLocation | undefined;
  /** Last merged commit of the agent. */
  mergedAt: string | undefined;
  /** Files written with the file tools. */
  readonly writtenFiles = new Set<string>();
  /** Files that calls changed, as far as checkpoints and merges recorded them. */
  readonly changedFiles = new Set<string>();

  apply(record: JournalRecord): void {
    switch (record.type) {
      case 'agent.created':
        this.origin = record.origin ?? null;
        break;
      case 'agent.requested':
        this.isParent = true;
        this.children.set(record.child, record.kind);
        this.childByCall.set(record.call, record.child);
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
        if (!record.letter.startsWith(ANSWER_PREFIX)) break;
        this.answers.add(record.letter);
        this.answeredByCall.set(record.letter, record.call);
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
      case 'assistant.received':
        // A damaged journal may have lost the message before it. Calls that started early are of this answer.
        this.offer = null;
        break;
      case 'user.sent':
        this.offer = null;
        this.childByCall.clear();
        this.answeredByCall.clear();
        break;
      default:
        break;
    }
  }

  /** Calls that the offer answers, in order. */
  get offered(): readonly string[] {
    const blocks = JSON.parse(`[${this.offer?.blocks ?? ''}]`) as readonly WireBlock[];
    return blocks.map(({ tool_use_id: call }) => String(call));
  }

  /** Own worktree of the agent; undefined if it works in its parent's tree. */
  get place(): WorktreeLocation | undefined {
    return this.cloned?.place ?? this.origin?.worktree;
  }

  /** True if a call other than `call` has sent this answer. */
  hasAnswered(letter: string, call: string): boolean {
    return this.answers.has(letter) && this.answeredByCall.get(letter) !== call;
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
