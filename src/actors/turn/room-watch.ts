/** Looks at the size of each prompt before it is sent, and says in time when it grows too long. */
import type { WindowMarks } from '../../context/window/window.js';
import type { TurnInput } from '../../protocol/agent/agent.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { JournaledState } from '../agent/journaled-state.js';

export interface RoomWatchDeps {
  readonly notebook: JournaledState;
  readonly feed: Feed;
  readonly windowOf: (model: string) => WindowMarks;
}

export class RoomWatch {
  private readonly deps: RoomWatchDeps;
  private hasWarned = false;

  constructor(deps: RoomWatchDeps) {
    this.deps = deps;
  }

  /** Tokens that must go before the prompt is sent; 0 when it may go as it is. */
  gapFor(model: string, { attempt, mayCompact }: TurnInput): number {
    const { tokens } = this.deps.notebook.history;
    const marks = this.deps.windowOf(model);
    this.warn(tokens, marks);
    if (attempt > 1 || !mayCompact) return 0;
    return Math.max(0, tokens - marks.compactAbove);
  }

  private warn(tokens: number, { window, warnAbove, compactAbove }: WindowMarks): void {
    const isHigh = tokens > warnAbove;
    if (isHigh && !this.hasWarned && tokens <= compactAbove) {
      const text = `The conversation fills about ${tokens} of ${window} tokens; above ${compactAbove} its older part is summarised.`;
      this.deps.feed.emit({ type: 'notice', text });
    }
    this.hasWarned = isHigh;
  }
}
