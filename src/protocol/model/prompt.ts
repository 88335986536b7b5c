/** What stands ahead of the messages of a prompt, and where each part of it came from. */
import { z } from 'zod';
import type { RawJson } from './wire.js';

/** How long the server keeps what a mark ends. */
export type CacheTtl = '5m' | '1h';

/** Where in the system prompt a section stands; zones follow each other in this order. */
export const ZONES = ['attribution', 'identity', 'static', 'dynamic'] as const;
export type Zone = (typeof ZONES)[number];

/** How widely the words of a section are the same: for everybody, for a session, for a turn. */
export const CACHE_CLASSES = ['global', 'session', 'ephemeral'] as const;
export type CacheClass = (typeof CACHE_CLASSES)[number];

const headSection = z.object({
  name: z.string(),
  zone: z.enum(ZONES),
  /** Who wrote it: the product, the settings, a flag, an agent's file, git, … */
  source: z.string(),
  /** The file that it was read from. */
  path: z.string().optional(),
  /** Which block of `system` holds it, and from where to where in that block's text. */
  block: z.int(),
  start: z.int(),
  end: z.int(),
  /** Why its words may change from turn to turn; left out where they may not. */
  mayChange: z.string().optional(),
});

/** One section of the system prompt as it was put there. */
export type HeadSection = Readonly<z.infer<typeof headSection>>;

/** The head of a prompt. It is kept with the session, byte for byte (law 3). */
export interface PromptHead {
  readonly tools: RawJson;
  /** With its cache marks in place. */
  readonly system: RawJson;
  readonly sections: readonly HeadSection[];
  /** Chosen once for a session (K7). */
  readonly ttl: CacheTtl;
}

/** A head as its artifact holds it. What a former version did not know is what it did. */
export const keptHead = z.object({
  tools: z.array(z.unknown()),
  system: z.array(z.unknown()),
  sections: z.array(headSection).catch([]).default([]),
  ttl: z.enum(['5m', '1h']).catch('5m').default('5m'),
});
