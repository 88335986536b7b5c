/** Head of a prompt: tools and system prompt, and the source of each section. */
import { z } from 'zod';
import type { RawJson } from './wire-block.js';

/** Lifetime of a cache entry on the server. */
export type CacheTtl = '5m' | '1h';

/** Zones of the system prompt, in order. */
export const ZONES = ['attribution', 'identity', 'static', 'dynamic'] as const;
export type Zone = (typeof ZONES)[number];

/** How widely the text of a section is shared: by all sessions, within a session, within a turn. */
export const CACHE_CLASSES = ['global', 'session', 'ephemeral'] as const;
export type CacheClass = (typeof CACHE_CLASSES)[number];

const headSection = z.object({
  name: z.string(),
  zone: z.enum(ZONES),
  /** Origin of the text: the product, the settings, a flag, an agent's file, git, … */
  source: z.string(),
  /** Path of the file that the text was read from. */
  path: z.string().optional(),
  /** Index of the block of `system`. `start` and `end` are offsets in the text of the block. */
  block: z.int(),
  start: z.int(),
  end: z.int(),
  /** Why the text may change between turns. Left out if it never changes. */
  mayChange: z.string().optional(),
});

/** One section of the system prompt. */
export type HeadSection = Readonly<z.infer<typeof headSection>>;

/** Head of a prompt. It is stored with the session, byte for byte (law 3). */
export interface PromptHead {
  readonly tools: RawJson;
  /** System blocks, including their cache breakpoints. */
  readonly system: RawJson;
  readonly sections: readonly HeadSection[];
  /** Cache lifetime, chosen once for a session: another lifetime would void the prefix. */
  readonly ttl: CacheTtl;
}

/** Format of a stored head. Fields that an older version did not write get that version's behaviour. */
export const storedPromptHead = z.object({
  tools: z.array(z.unknown()),
  system: z.array(z.unknown()),
  sections: z.array(headSection).catch([]).default([]),
  ttl: z.enum(['5m', '1h']).catch('5m').default('5m'),
});
