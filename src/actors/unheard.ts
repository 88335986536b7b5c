/** Agents at work that nobody waits for, by whom they work for: whoever expects some goes on when one reports. */
import type { Child, Member } from './member.js';

type Parent = Pick<Member, 'id'>;

export class Unheard {
  private readonly counts = new Map<string, number>();
  /** Those that are counted. */
  private readonly working = new Set<string>();
  private readonly changed: (parent: Parent, live: number) => void;

  /** `changed` is told how many there are now. */
  constructor(changed: (parent: Parent, live: number) => void) {
    this.changed = changed;
  }

  expectedBy({ id }: Parent): number {
    return this.counts.get(id) ?? 0;
  }

  /** So many more, or fewer, that a former process has left. */
  expect(parent: Parent, more: number): void {
    const live = this.expectedBy(parent) + more;
    if (live > 0) this.counts.set(parent.id, live);
    else this.counts.delete(parent.id);
    this.changed(parent, live);
  }

  begin({ id, parent }: Pick<Child, 'id' | 'parent'>): void {
    if (this.working.has(id)) return;
    this.working.add(id);
    this.expect(parent, 1);
  }

  end({ id, parent }: Pick<Child, 'id' | 'parent'>): void {
    if (this.working.delete(id)) this.expect(parent, -1);
  }
}
