/** Model providers, and the prompt-caching features that each supports. */
import type { CacheTtl } from './prompt-head.js';

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

/** Who may share a cache entry. Null: this conversation only. */
export type CacheScope = 'global' | 'org' | null;

export interface Capabilities {
  readonly provider: ProviderName;
  /** True if prompts carry cache breakpoints. */
  readonly marks: boolean;
  readonly ttls: readonly CacheTtl[];
  /** Scopes that may be sent. The public API has none. */
  readonly scopes: readonly Exclude<CacheScope, null>[];
  /** True if `cache_reference` and `cache_edits` are supported. The public API has neither. */
  readonly edits: boolean;
  /** True if the server can report the reason for a cache miss. */
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
