/** Chooses the cache lifetime of a session's prompt. Called once: the prompt head stores it. */
import type { CacheTtl } from '../../protocol/model/prompt-head.js';
import { capabilitiesOf, type ProviderName } from '../../protocol/model/providers.js';

export interface CacheTtlFacts {
  readonly provider: ProviderName;
  /** Setting for one hour on Bedrock, where plan and quota are unknown. */
  readonly bedrockHour: boolean;
  /** Purpose of the requests: `repl`, `print`, `agent:explore`, … */
  readonly querySource: string;
  /** Query sources that get one hour. A trailing `*` matches every source with that prefix. */
  readonly hourFor: readonly string[];
  readonly isPaid: boolean;
  readonly isInOverage: boolean;
}

/** Returns one hour only for listed sources, because its cache writes cost more. */
export const cacheTtl = (facts: CacheTtlFacts): CacheTtl => {
  const { provider, bedrockHour, querySource, hourFor, isPaid, isInOverage } = facts;
  if (!capabilitiesOf(provider).ttls.includes('1h')) return '5m';
  if (provider === 'bedrock' && bedrockHour) return '1h';
  const isListed = hourFor.some((pattern) => fits(pattern, querySource));
  return isListed && isPaid && !isInOverage ? '1h' : '5m';
};

const fits = (pattern: string, source: string): boolean =>
  pattern.endsWith('*') ? source.startsWith(pattern.slice(0, -1)) : source === pattern;
