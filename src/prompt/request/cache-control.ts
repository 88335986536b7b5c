/** The text of a cache mark, as far as the provider takes it (K1, K5). */
import type { CacheTtl } from '../../protocol/model/prompt.js';
import type { CacheScope, Capabilities } from '../../protocol/model/providers.js';
import type { RawJson } from '../../protocol/model/wire.js';

/**
 * Null where the provider takes no marks. What the server assumes is left unsaid: five minutes, and
 * entries that only the organisation can read.
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
