/** Builds the `cache_control` value of a breakpoint, as far as the provider supports it. */
import type { CacheTtl } from '../../protocol/model/prompt-head.js';
import type { CacheScope, Capabilities } from '../../protocol/model/providers.js';
import type { RawJson } from '../../protocol/model/wire-block.js';

/**
 * Returns null if the provider takes no breakpoints. Server defaults are left out: five minutes,
 * and entries that only the organisation can read.
 */
export const cacheControl = (
  { marks, ttls, scopes }: Capabilities,
  ttl: CacheTtl,
  scope: CacheScope,
): RawJson | null => {
  if (!marks) return null;
  const isHour = ttl === '1h' && ttls.includes('1h');
  const isGlobal = scope === 'global' && scopes.includes('global');
  return `{"type":"ephemeral"${isHour ? ',"ttl":"1h"' : ''}${isGlobal ? ',"scope":"global"' : ''}}`;
};
