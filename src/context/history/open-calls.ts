/** The calls of the newest assistant message until their results are in the history, in the order of asking. */

import type { RawJson, WireBlock } from '../../protocol/model/wire.js';
import type { CallOutcome, CallTrace } from '../../protocol/session/journal.js';
import type { ToolNote } from '../../protocol/tools/tool.js';

export interface HistoryCall {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  started: { readonly readOnly: boolean } | null;
  result: { readonly raw: RawJson; readonly outcome: CallOutcome } | null;
  notes: readonly ToolNote[];
  /** What a circle is known by; null where there is none on record. */
  trace: CallTrace | null;
}

type CallProgress = Pick<HistoryCall, 'started' | 'result' | 'notes' | 'trace'>;

const BLANK: CallProgress = { started: null, result: null, notes: [], trace: null };

export class OpenCalls extends Map<string, HistoryCall> {
  /** Calls of attempts whose message has not landed; they count only if it does. */
  private readonly drafts = new Map<string, CallProgress>();
  private inOrder: HistoryCall[] = [];
  private applied = 0;

  /** A call whose message has not landed yet is a draft. */
  progressOf(call: string): CallProgress {
    const known = this.get(call) ?? this.drafts.get(call);
    if (known !== undefined) return known;
    const draft = { ...BLANK };
    this.drafts.set(call, draft);
    return draft;
  }

  /** Whatever an attempt had begun is void. */
  forgetDrafts(): void {
    this.drafts.clear();
  }

  /** The message that asks for them is in the history. */
  land(blocks: readonly WireBlock[]): void {
    for (const block of blocks) {
      if (block.type !== 'tool_use') continue;
      const id = String(block.id);
      const draft = this.drafts.get(id) ?? BLANK;
      const call = { id, tool: String(block.name), input: block.input, ...draft };
      this.set(id, call);
      this.inOrder.push(call);
    }
    this.drafts.clear();
  }

  /** Notes of the calls that have ended, in the order of the calls, whatever order they ended in. */
  takeNotes(): readonly ToolNote[] {
    const taken: ToolNote[] = [];
    for (;;) {
      const call = this.inOrder[this.applied];
      if (call === undefined || call.result === null) return taken;
      this.applied += 1;
      taken.push(...call.notes);
    }
  }

  /** There are some, their message is in the history, and all of them have ended. */
  get isSettled(): boolean {
    return this.applied > 0 && this.applied === this.inOrder.length;
  }

  override clear(): void {
    super.clear();
    this.inOrder = [];
    this.applied = 0;
  }
}
