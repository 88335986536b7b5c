/** The words for what became of a cached prefix. */

/** Why a prefix was not read from the cache again. */
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

/** What became of whatever a break is put down to. */
export const CHANGES = ['changed', 'added', 'removed', 'moved'] as const;
export type Change = (typeof CHANGES)[number];
