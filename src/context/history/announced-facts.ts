/** Announced facts: the facts that an agent's messages hold, as they were named last. */
import type { KnownFacts } from '../../protocol/model/context-provider.js';

import type { UserPart } from '../../protocol/session/journal-record.js';

export class AnnouncedFacts {
  /** Values by name of the fact. */
  readonly facts = new Map<string, string>();
  /** Facts of the preamble, and the index of the message that holds it. */
  private preamble: { readonly facts: KnownFacts; readonly at: number } | undefined;

  /** True if the messages still hold the preamble. */
  get hasPreamble(): boolean {
    return this.preamble !== undefined;
  }

  /** Records the facts of the message at index `at`. */
  record(parts: readonly UserPart[], at: number): void {
    for (const part of parts) {
      if ('briefing' in part) {
        this.preamble = { facts: part.facts, at };
        this.add(part.facts);
      } else if ('reminder' in part) this.facts.set(part.reminder, part.value);
    }
  }

  /** Copies the facts of a fork's parent. */
  copyFrom(other: AnnouncedFacts): void {
    this.add(Object.fromEntries(other.facts));
    this.preamble = other.preamble;
  }

  /** Keeps only the facts of this preamble; all other facts are announced again. */
  startFrom(facts: KnownFacts, at = 0): void {
    this.clear();
    this.preamble = { facts, at };
    this.add(facts);
  }

  /** Forgets the facts of messages that were dropped after the first message. */
  dropMessages(dropped: number): void {
    const { preamble } = this;
    const isLost = preamble === undefined || (preamble.at > 0 && preamble.at <= dropped);
    if (isLost) this.clear();
    else this.startFrom(preamble.facts, Math.max(0, preamble.at - dropped));
  }

  clear(): void {
    this.facts.clear();
    this.preamble = undefined;
  }

  private add(facts: KnownFacts): void {
    for (const [fact, value] of Object.entries(facts)) this.facts.set(fact, value);
  }
}
