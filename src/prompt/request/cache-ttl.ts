/** How long a session's prompt is to stay cached (K6). Asked once: the head of the prompt keeps it. */
import type { CacheTtl } from '../../protocol/model/prompt.js';
import { capabilitiesOf, type ProviderName } from '../../protocol/model/providers.js';

export interface TtlFacts {
  readonly provider: ProviderName;
  /** The switch for an hour on Bedrock, where nobody knows of plans and quotas. */
  readonly bedrockHour: boolean;
  /** What the requests are for: `repl`, `print`, `agent:explore`, … */
  readonly querySource: string;
  /** The sources that get an hour; one with a star at its end stands for all that begin like it. */
  readonly hourFor: readonly string[];
  readonly isPaid: boolean;
  readonly isInOverage: boolean;
}

/** An hour costs more to write, so it is for those whose prompt is read again after long pauses. */
export const chooseTtl = (facts: TtlFacts): CacheTtl => {
  const { provider, bedrockHour, querySource, hourFor, isPaid, isInOverage } = facts;
  if (!capabilitiesOf(provider).ttls.includes('1h')) return '5m';
  if (provider === 'bedrock' && bedrockHour) return '1h';
  const isListed = hourFor.some((pattern) => fits(pattern, querySource));
  return isListed && isPaid && !isInOverage ? '1h' : '5m';
};

const fits = (pattern: string, source: string): boolean =>
  pattern.endsWith('*') ? source.startsWith(pattern.slice(0, -1)) : source === pattern;
