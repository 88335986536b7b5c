/**
 * Open calls: calls of the newest assistant message until their results are in the history, in
 * order.
 */

import type { RawJson, WireBlock } from '../../protocol/model/wire-block.js';
import type { CallOutcome, CallTrace } from '../../protocol/session/journal-record.js';
import type { ToolNote } from '../../protocol/tools/tool.js';

interface HistoryCall {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  /** Position in the message, counted from 1. */
  readonly number: number;
  started: { readonly readOnly: boolean } | null;
  result: { readonly raw: RawJson; readonly outcome: CallOutcome } | null;
  notes: readonly ToolNote[];
  /** Digest for the loop guard; null if not recorded. */
  trace: CallTrace | null;
}

type CallProgress = Pick<HistoryCall, 'started' | 'result' | 'notes' | 'trace'>;

const BLANK: CallProgress = { started: null, result: null, notes: [], trace: null };

export class OpenCalls extends Map<string, HistoryCall> {
  /** Calls of an attempt without a complete message. They count only if the message completes. */
  private readonly drafts = new Map<string, CallProgress>();
  private inOrder: HistoryCall[] = [];
  private applied = 0;

  /** Returns the progress of a call. Creates a draft if its message is not complete yet. */
  progressOf(call: string): CallProgress {
    const existing = this.get(call) ?? this.drafts.get(call);
    if (existing !== undefined) return existing;
    const draft = { ...BLANK };
    this.drafts.set(call, draft);
    return draft;
  }

  /** Returns the result of a call whose message is not recorded. */
  draftedResult(call: string): RawJson | undefined {
    return this.drafts.get(call)?.result?.raw;
  }

  /** Discards the calls of a failed attempt. */
  discardDrafts(): void {
    this.drafts.clear();
  }

  /** Adds the calls of a complete assistant message. */
  addMessage(blocks: readonly WireBlock[]): void {
    for (const block of blocks) {
      if (block.type !== 'tool_use') continue;
      const id = String(block.id);
      const draft = this.drafts.get(id) ?? BLANK;
      const number = this.inOrder.length + 1;
      const call = { id, tool: String(block.name), input: block.input, number, ...draft };
      this.set(id, call);
      this.inOrder.push(call);
    }
    this.drafts.clear();
  }

  /** Returns the notes of ended calls in call order, up to the first call that still runs. */
  takeNotes(): readonly ToolNote[] {
    const taken: ToolNote[] = [];
    for (;;) {
      const call = this.inOrder[this.applied];
      if (call === undefined || call.result === null) return taken;
      this.applied += 1;
      taken.push(...call.notes);
    }
  }

  /** True if the message has calls and all of them have ended. */
  get isSettled(): boolean {
    return this.applied > 0 && this.applied === this.inOrder.length;
  }

  override clear(): void {
    super.clear();
    this.inOrder = [];
    this.applied = 0;
  }
}
