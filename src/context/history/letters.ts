/**
 * Letters that are not in a message yet. Letters of jobs and hooks are passive: they do not wake
 * the agent and are sent with the next message.
 */

import type { RawJson } from '../../protocol/model/wire-block.js';
import { HOOK_SENDER } from '../../protocol/permission/hooks.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import { JOB_SENDER } from '../../protocol/tools/shell-jobs.js';

export class Letters extends Map<string, RawJson> {
  private readonly passive = new Map<string, string>();
  /** Notices that the model must read before its next answer. */
  private readonly urgent = new Set<string>();
  /** Ids of all received letters, to detect a repeated delivery (law 9). */
  private readonly received = new Set<string>();
  /** Letters with content that a result of the next message reports. */
  private readonly reported = new Set<string>();

  isKnown(letter: string): boolean {
    return this.received.has(letter);
  }

  /** Marks a letter as received that is no longer part of the conversation. */
  markKnown(letter: string): void {
    this.received.add(letter);
  }

  receive({ letter, from, raw }: JournalRecord & { type: 'letter.received' }): void {
    this.received.add(letter);
    this.set(letter, raw.slice(1, -1));
    if (from === JOB_SENDER || from === HOOK_SENDER) this.passive.set(letter, from);
  }

  /** Marks a letter that an unsent result already reports. */
  markReported(letter: string): void {
    this.reported.add(letter);
  }

  /** Drops the reported letters. Called when the results are in a message. */
  dropReported(): void {
    for (const letter of this.reported) this.delete(letter);
    this.reported.clear();
  }

  /**
   * Adds a passive letter of Skein, which goes with the next message. An urgent notice is a message
   * of its own if the model answers next.
   */
  addNotice(letter: string, blocks: RawJson, isUrgent = false): void {
    this.set(letter, blocks);
    this.passive.set(letter, '');
    if (isUrgent) this.urgent.add(letter);
  }

  get hasUrgent(): boolean {
    return this.urgent.size > 0;
  }

  /** Number of letters that need an answer. */
  get waiting(): number {
    return this.size - this.passive.size;
  }

  /** True for a waiting letter that is not passive. */
  isActive(letter: string): boolean {
    return this.has(letter) && !this.passive.has(letter);
  }

  /**
   * Returns the letters oldest first, hook letters last. `besideResults` leaves out reported
   * letters.
   */
  inOrder(besideResults: boolean): readonly string[] {
    const isHook = (letter: string) => this.passive.get(letter) === HOOK_SENDER;
    const all = [...this.keys()].filter((letter) => !besideResults || !this.reported.has(letter));
    return [...all.filter((letter) => !isHook(letter)), ...all.filter(isHook)];
  }

  override delete(letter: string): boolean {
    this.passive.delete(letter);
    this.urgent.delete(letter);
    return super.delete(letter);
  }
}
