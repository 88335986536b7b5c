/** Section of the system prompt: its text, its origin and how often it is computed. */
import type { CacheClass, Zone } from '../../protocol/model/prompt-head.js';

/** A text of a prompt with its origin. Pieces and the texts of a `SystemPrompt` share indices. */
export interface PromptPiece {
  readonly name: string;
  readonly zone: Exclude<Zone, 'attribution'> | 'boundary';
  readonly cacheClass: CacheClass;
  readonly source: string;
  readonly path?: string;
  readonly mayChange?: string;
  readonly text: string;
}

/** A text with an origin other than Skein itself. */
export interface SourcedText {
  readonly text: string;
  readonly source: string;
  readonly path?: string;
}

export interface Section<Facts> {
  readonly name: string;
  readonly cacheClass: CacheClass;
  /** Returns null to leave the section out. */
  readonly compute: (facts: Facts) => string | SourcedText | null;
  readonly mayChange?: string;
}

/**
 * Defines a section that is computed once, and again after the conversation is cleared or
 * compacted.
 */
export const section = <Facts>(
  name: string,
  compute: Section<Facts>['compute'],
): Section<Facts> => ({ name, cacheClass: 'session', compute });

/**
 * Defines a section that is computed for every turn. A changed text voids the cache of all text
 * after it; people are then shown `mayChange` as the reason. Throws if `mayChange` is blank.
 */
export const dangerousUncachedSection = <Facts>(
  name: string,
  compute: Section<Facts>['compute'],
  mayChange: string,
): Section<Facts> => {
  if (mayChange.trim() === '') throw new Error(`Say why ${name} may break the cache.`);
  return { name, cacheClass: 'ephemeral', compute, mayChange };
};
