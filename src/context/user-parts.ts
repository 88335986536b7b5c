/** What a user message is made of, as blocks, and what an agent has been told through them. */
import type { UserPart } from '../protocol/journal.js';
import { type RawJson, rawText } from '../protocol/wire.js';

/** What the parts cite: letters and the results of calls. */
export interface Cited {
  letter(id: string): RawJson | undefined;
  result(call: string): RawJson | undefined;
}

/** The block of a part; empty when there is nothing to say, or a damaged journal has lost it. */
export const blockOf = (part: UserPart, cited: Cited): RawJson => {
  if ('briefing' in part) return part.briefing === '' ? '' : rawText(part.briefing);
  if ('text' in part) return rawText(part.text);
  if ('letter' in part) return cited.letter(part.letter) ?? '';
  return cited.result(part.call) ?? '';
};

/** What people said, and not what they were told in between. */
export const isSaid = (part: UserPart): boolean => 'letter' in part;

const RULE = 'rule:';

/** The fact that a rule for some files was told. */
export const ruleFact = (path: string): string => `${RULE}${path}`;

/** Facts by name, as the agent was told them last. */
export class Told {
  readonly facts = new Map<string, string>();
  /** It knows what stands before its first message. */
  isBriefed = false;

  take(parts: readonly UserPart[]): void {
    for (const part of parts) {
      if ('briefing' in part) this.brief(part.facts);
      else if ('reminder' in part) this.facts.set(part.reminder, part.value);
    }
  }

  brief(facts: Readonly<Record<string, string>>): void {
    this.isBriefed = true;
    for (const [fact, value] of Object.entries(facts)) this.facts.set(fact, value);
  }

  /** The messages that told it may be gone; what holds for some files is told again when it matters. */
  forgetRules(): void {
    for (const fact of this.facts.keys()) if (fact.startsWith(RULE)) this.facts.delete(fact);
  }

  forget(): void {
    this.facts.clear();
    this.isBriefed = false;
  }
}
