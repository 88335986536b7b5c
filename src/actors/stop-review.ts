/** Lets somebody look at a run before it ends: they may send it back with a reason. */
import { lastAnswer } from '../context/last-answer.js';
import type { AgentEvent, CrewOrder } from '../protocol/agent.js';
import { StorageError } from '../protocol/errors.js';
import type { Feed } from '../protocol/feed.js';
import type { Ids } from '../protocol/ids.js';
import type { ReviewStop, StopVerdict } from '../protocol/stop-verdict.js';
import { rawText } from '../protocol/wire.js';
import type { Notebook } from './notebook.js';

export interface ReviewDeps {
  /** Left out when every end counts. */
  readonly reviewStop?: ReviewStop | undefined;
  readonly notebook: Notebook;
  readonly ids: Ids;
  readonly feed: Feed;
  readonly defect: (error: unknown) => void;
}

type ReviewOrder = CrewOrder & { readonly type: 'run.review' };

const LONGEST_REASON = 30_000;

export class StopReview {
  private readonly deps: ReviewDeps;
  private readonly tell: (event: AgentEvent) => void;
  private controller: AbortController | undefined;

  constructor(deps: ReviewDeps, tell: (event: AgentEvent) => void) {
    this.deps = deps;
    this.tell = tell;
  }

  begin(order: ReviewOrder): void {
    const controller = new AbortController();
    this.controller = controller;
    this.look(order, controller.signal).catch((error: unknown) => {
      if (error instanceof StorageError) {
        this.tell({ type: 'storage.failed', detail: error.message });
      } else this.deps.defect(error);
    });
  }

  abort(): void {
    this.controller?.abort();
    this.controller = undefined;
  }

  private async look({ sentBack, isLast }: ReviewOrder, signal: AbortSignal): Promise<void> {
    const { notebook, feed, ids } = this.deps;
    const verdict = await this.ask(signal);
    if (signal.aborted) return;
    if (verdict.block && !isLast) {
      const letter = ids('letter');
      const raw = `[${rawText(sentBackText(verdict))}]`;
      notebook.record({ type: 'letter.received', letter, from: 'stop-hook', raw });
    } else if (verdict.block) {
      const detail = 'The end of the run was blocked once too often, so it counts all the same.';
      notebook.record({
        type: 'bound.hit',
        what: 'sent-back',
        limit: sentBack,
        detail,
      });
      feed.emit({ type: 'notice', text: detail });
    }
    this.tell({ type: 'run.reviewed', sentBack: verdict.block && !isLast });
  }

  /** A reviewer that fails has not blocked: a broken check must not keep an agent busy for ever. */
  private async ask(signal: AbortSignal): Promise<StopVerdict> {
    const { reviewStop, notebook, feed } = this.deps;
    try {
      const verdict = await reviewStop?.({ answer: lastAnswer(notebook.history.messages) }, signal);
      return verdict ?? { block: false };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (!signal.aborted) feed.emit({ type: 'notice', text: `The stop hook failed: ${why}` });
      return { block: false };
    }
  }
}

const sentBackText = ({ reason = 'No reason was given.', context = '' }: StopVerdict): string =>
  `Do not end here. A check of the finished work says: ${reason}\n${context}`
    .trimEnd()
    .slice(0, LONGEST_REASON)
    .toWellFormed();
