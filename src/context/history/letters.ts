/** Letters that are not in a message yet. Those of jobs and hooks go along with others, and wake nobody. */

import type { RawJson } from '../../protocol/model/wire.js';
import { HOOK_SENDER } from '../../protocol/permission/hooks.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import { JOB_SENDER } from '../../protocol/tools/shell-jobs.js';

export class Letters extends Map<string, RawJson> {
  private readonly asides = new Map<string, string>();
  /** All that ever came, so that one that is given again is known by its id (law 9). */
  private readonly known = new Set<string>();
  /** What they say stands in results of the next message. */
  private readonly told = new Set<string>();

  isKnown(letter: string): boolean {
    return this.known.has(letter);
  }

  /** It came, and is no longer part of the conversation. */
  know(letter: string): void {
    this.known.add(letter);
  }

  take({ letter, from, raw }: JournalRecord & { type: 'letter.received' }): void {
    this.known.add(letter);
    this.set(letter, raw.slice(1, -1));
    if (from === JOB_SENDER || from === HOOK_SENDER) this.asides.set(letter, from);
  }

  /** A result that nobody has read yet says the same. */
  tell(letter: string): void {
    this.told.add(letter);
  }

  /** The results are in a message. */
  dropTold(): void {
    for (const letter of this.told) this.delete(letter);
    this.told.clear();
  }

  /** One that nobody sent: it is told with the next message. */
  setAside(letter: string, blocks: RawJson): void {
    this.set(letter, blocks);
    this.asides.set(letter, '');
  }

  /** How many want an answer. */
  get waiting(): number {
    return this.size - this.asides.size;
  }

  /** What people said, and not what came along with it. */
  isSaid(letter: string): boolean {
    return this.has(letter) && !this.asides.has(letter);
  }

  /** Oldest first, and at the very end what hooks add; beside results without what those say. */
  inOrder(besideResults: boolean): readonly string[] {
    const isAdded = (letter: string) => this.asides.get(letter) === HOOK_SENDER;
    const all = [...this.keys()].filter((letter) => !besideResults || !this.told.has(letter));
    return [...all.filter((letter) => !isAdded(letter)), ...all.filter(isAdded)];
  }

  override delete(letter: string): boolean {
    this.asides.delete(letter);
    return super.delete(letter);
  }
}
