/** Who serves models, and what of prompt caching each of them takes. */
import type { CacheTtl } from './prompt.js';

export const PROVIDERS = [
  'firstParty',
  'bedrock',
  'vertex',
  'foundry',
  'openai',
  'gemini',
  'grok',
] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** Who may share what was cached. Null is nobody else: the entry serves this conversation. */
export type CacheScope = 'global' | 'org' | null;

export interface Capabilities {
  readonly provider: ProviderName;
  /** Prompts are marked at all. */
  readonly marks: boolean;
  readonly ttls: readonly CacheTtl[];
  /** Scopes that may be named on the wire. The public API names none. */
  readonly scopes: readonly Exclude<CacheScope, null>[];
  /** `cache_reference` and `cache_edits`. The public API has neither. */
  readonly edits: boolean;
  /** Tells why a prefix could not be read again, when asked. */
  readonly diagnostics: boolean;
  readonly betas: boolean;
}

const ANTHROPIC = { marks: true, ttls: ['5m', '1h'], scopes: [], edits: false } as const;
const OTHERS = { marks: false, ttls: ['5m'], scopes: [], edits: false } as const;

const TABLE: Readonly<Record<ProviderName, Omit<Capabilities, 'provider'>>> = {
  firstParty: { ...ANTHROPIC, diagnostics: true, betas: true },
  bedrock: { ...ANTHROPIC, diagnostics: false, betas: true },
  vertex: { ...ANTHROPIC, diagnostics: false, betas: true },
  foundry: { ...ANTHROPIC, diagnostics: false, betas: true },
  openai: { ...OTHERS, diagnostics: false, betas: false },
  gemini: { ...OTHERS, diagnostics: false, betas: false },
  grok: { ...OTHERS, diagnostics: false, betas: false },
};

export const capabilitiesOf = (provider: ProviderName): Capabilities => ({
  provider,
  ...TABLE[provider],
});
