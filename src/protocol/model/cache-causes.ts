/** Causes of a cache miss. */

/** Why the server did not read a prefix from its cache. */
export const CACHE_CAUSES = [
  'system',
  'tools',
  'model',
  'betas',
  'effort',
  'thinking',
  'settings',
  'marks',
  'messages',
  'compaction',
  'truncation',
  'clear',
  'rewind',
  'section',
  'expired',
  'server',
] as const;
export type CacheCause = (typeof CACHE_CAUSES)[number];

/** How the part that caused a miss has changed. */
export const PART_CHANGES = ['changed', 'added', 'removed', 'moved'] as const;
export type PartChange = (typeof PART_CHANGES)[number];
