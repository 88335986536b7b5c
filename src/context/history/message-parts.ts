/** What a user message is made of, as blocks, and what an agent has been told through them. */
import type { KnownFacts } from '../../protocol/model/context-provider.js';
import { type RawJson, rawText } from '../../protocol/model/wire.js';
import type { UserPart } from '../../protocol/session/journal.js';

/** What the parts cite: letters and the results of calls. */
export interface Cited {
  letter(id: string): RawJson | undefined;
  result(call: string): RawJson | undefined;
  /** What stands for the results of the message that a fork goes on from. */
  offer(): RawJson | undefined;
}

/** The block of a part; empty when there is nothing to say, or a damaged journal has lost it. */
export const blockOf = (part: UserPart, cited: Cited): RawJson => {
  if ('briefing' in part) return part.briefing === '' ? '' : rawText(part.briefing);
  if ('text' in part) return rawText(part.text);
  if ('offer' in part) return cited.offer() ?? '';
  if ('letter' in part) return cited.letter(part.letter) ?? '';
  return cited.result(part.call) ?? '';
};

/** Facts by name, as the agent was told them last. */
export class Told {
  readonly facts = new Map<string, string>();
  /** What stands before everything else told it, and which message holds that. */
  private opening: { readonly facts: KnownFacts; readonly at: number } | undefined;

  /** It knows what stands before its first message. */
  get isBriefed(): boolean {
    return this.opening !== undefined;
  }

  /** The parts of the message at this place in the history. */
  take(parts: readonly UserPart[], at: number): void {
    for (const part of parts) {
      if ('briefing' in part) {
        this.opening = { facts: part.facts, at };
        this.add(part.facts);
      } else if ('reminder' in part) this.facts.set(part.reminder, part.value);
    }
  }

  /** Knows what another one knows: a fork has read what its parent has. */
  takeOver(other: Told): void {
    this.add(Object.fromEntries(other.facts));
    this.opening = other.opening;
  }

  /** Everything begins with this opening; what else was told may be gone, and is told again. */
  begin(facts: KnownFacts, at = 0): void {
    this.forget();
    this.opening = { facts, at };
    this.add(facts);
  }

  /** So many messages after the first are gone, and what they told is told again where it matters. */
  lose(dropped: number): void {
    const { opening } = this;
    const isLost = opening === undefined || (opening.at > 0 && opening.at <= dropped);
    if (isLost) this.forget();
    else this.begin(opening.facts, Math.max(0, opening.at - dropped));
  }

  forget(): void {
    this.facts.clear();
    this.opening = undefined;
  }

  private add(facts: KnownFacts): void {
    for (const [fact, value] of Object.entries(facts)) this.facts.set(fact, value);
  }
}
