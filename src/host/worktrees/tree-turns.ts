/** Two that change one tree take turns, and so do those that take pictures of it; who has to wait is told so. */
import type { TellLock } from '../../protocol/tools/worktree.js';

export interface Turn {
  readonly agent: string;
  readonly waits?: TellLock;
}

export class TreeTurns {
  private readonly last = new Map<string, Promise<unknown>>();
  /** Who is at work on each tree. */
  private readonly holders = new Map<string, string>();

  take<Result>(top: string, { agent, waits }: Turn, work: () => Promise<Result>): Promise<Result> {
    const before = this.last.get(top);
    const holder = this.holders.get(top);
    if (before === undefined) this.holders.set(top, agent);
    else if (holder !== undefined) waits?.(holder, top);
    const begin = () => {
      this.holders.set(top, agent);
      return work();
    };
    const mine = (before ?? Promise.resolve()).then(begin);
    const settled = mine.catch(() => undefined);
    this.last.set(top, settled);
    void settled.then(() => {
      if (this.last.get(top) !== settled) return;
      this.last.delete(top);
      this.holders.delete(top);
    });
    return mine;
  }
}
