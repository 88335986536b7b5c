/** What a section of the system prompt is made from, and how often. */
import type { CacheClass, Zone } from '../../protocol/model/prompt.js';

/** One part of the prompt with its origin; parts and the texts of a prompt go in step. */
export interface Piece {
  readonly name: string;
  readonly zone: Exclude<Zone, 'attribution'> | 'boundary';
  readonly cacheClass: CacheClass;
  readonly source: string;
  readonly path?: string;
  readonly mayChange?: string;
  readonly text: string;
}

/** A text with its origin, where that is not the product itself. */
export interface Said {
  readonly text: string;
  readonly source: string;
  readonly path?: string;
}

export interface Section<Facts> {
  readonly name: string;
  readonly cacheClass: CacheClass;
  /** Null leaves it out. */
  readonly compute: (facts: Facts) => string | Said | null;
  readonly mayChange?: string;
}

/** Computed once, and again only when the conversation begins anew or is shortened. */
export const section = <Facts>(
  name: string,
  compute: Section<Facts>['compute'],
): Section<Facts> => ({ name, cacheClass: 'session', compute });

/**
 * Computed again for every turn: whenever its words change, everything after it is paid for in full.
 * The reason is shown to people when that happens, so it cannot be left out.
 */
export const dangerousUncachedSection = <Facts>(
  name: string,
  compute: Section<Facts>['compute'],
  mayChange: string,
): Section<Facts> => {
  if (mayChange.trim() === '') throw new Error(`Say why ${name} may break the cache.`);
  return { name, cacheClass: 'ephemeral', compute, mayChange };
};
