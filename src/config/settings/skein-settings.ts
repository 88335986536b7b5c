/**
 * Settings of Skein itself: the key `skein` of settings.json.
 *
 * Each setting also has an environment variable: `skein.maxAgents` is `SKEIN_MAX_AGENTS`.
 */
import { z } from 'zod';

export interface SkeinSettings {
  /** Maximum agents that a run may spawn. */
  readonly maxAgents: number;
  /** Maximum agents that run at the same time; others queue. With 0 no agent runs. */
  readonly maxConcurrentAgents: number;
  /** Maximum depth of the agent tree below the lead. */
  readonly maxDepth: number;
  /** Maximum calls of one message that run; further calls are refused. With 0 no call runs. */
  readonly maxCallsPerMessage: number;
  /** Consecutive turns in which every call was refused after which the model is warned. */
  readonly refusedTurnsBeforeWarning: number;
  /** Consecutive turns in which every call was refused after which the agent is stopped. */
  readonly maxRefusedTurns: number;
  /** Times that an agent may repeat the same calls with the same results before it is stopped. */
  readonly maxRepeatedCalls: number;
  /** Maximum model requests at the same time. With 0 no run starts. */
  readonly maxConcurrentRequests: number;
  /** Cost limit for a run and all its agents, in US dollars. Default: none. */
  readonly maxBudgetUsd?: number;
  /** Limit on all tokens that the server counts, for a run and all its agents. Default: none. */
  readonly maxBudgetTokens?: number;
  readonly agentIdleTimeoutMs: number;
  readonly agentWallTimeoutMs: number;
  readonly permissionTimeoutMs: number;
  /** How teammates are shown: in the session's own screen, or each in a tmux pane. */
  readonly teammates: 'in-process' | 'tmux';
  /** `embedded` (files) or a Redis URL. */
  readonly store: string;
  /** Milliseconds without a heart-beat after which another process may take over (Redis only). */
  readonly leaseMs: number;
  /** Priority in the workers' queue: lower numbers first, 0 before all. */
  readonly queuePriority: number;
  /** Minimum milliseconds between the spawn of a background agent and its start by a worker. */
  readonly queueDelayMs: number;
  /** Public keys of other people who may answer agents and start swarms for workers on this machine. */
  readonly personKeys: readonly string[];
  /** Folders with the same content on all machines, in which a worker may run agents of other machines. */
  readonly sharedPaths: readonly string[];
  /** Git remote of the workspace, by name or URL. Workers on other machines clone it. */
  readonly workspaceRemote?: string;
  readonly effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /** A number is the thinking budget in tokens. */
  readonly thinking?: 'off' | 'adaptive' | number;
  /** Context window in tokens. Default: from the table of models. */
  readonly contextWindow?: number;
  /** Maximum output tokens of a request. A smaller limit of the model wins. */
  readonly maxOutputTokens: number;
  /** Maximum milliseconds between two events of a response. */
  readonly streamIdleTimeoutMs: number;
  readonly maxRetries: number;
  readonly modelAliases: Readonly<Record<string, string>>;
  /** True for a one-line system prompt without sections. */
  readonly simple: boolean;
  /** True to read no memory files such as CLAUDE.md. */
  readonly disableMemoryFiles: boolean;
  /** True if agents keep notes of their own. */
  readonly autoMemory: boolean;
  /** True if agents share the notes of a team. */
  readonly teamMemory: boolean;
  /** True to send no headers for experimental features of the API. */
  readonly disableExperimentalBetas: boolean;
  /** Query sources with a one-hour cache: `repl`, or `repl*` for all that begin with it. */
  readonly cacheHourFor: readonly string[];
  /** Text in the context. A change of it invalidates the cache. */
  readonly cacheBreaker?: string;
  /** True if instructions of MCP servers are sent as messages instead of in the system prompt. */
  readonly mcpInstructionsDelta: boolean;
  /** True to offer the provider's web search. */
  readonly webSearch: boolean;
  /** Hosts of this machine and its network, with or without port, that WebFetch may access. */
  readonly allowPrivateAddresses: readonly string[];
  /** True to remove secrets from tool results before the model, the journal or a screen receives them. */
  readonly redactSecrets: boolean;
  /** Sandbox for commands. `auto`: if available. `required`: commands fail without it. */
  readonly sandbox: 'off' | 'auto' | 'required';
  readonly sessionRetentionDays: number;
  readonly checkpointRetentionDays: number;
  readonly worktreeRetentionDays: number;
}

export type SkeinKey = keyof SkeinSettings;

export const SKEIN_DEFAULTS: SkeinSettings = {
  maxAgents: 200,
  maxConcurrentAgents: 20,
  maxDepth: 3,
  maxCallsPerMessage: 200,
  refusedTurnsBeforeWarning: 5,
  maxRefusedTurns: 15,
  maxRepeatedCalls: 10,
  maxConcurrentRequests: 64,
  agentIdleTimeoutMs: 600_000,
  agentWallTimeoutMs: 3_600_000,
  permissionTimeoutMs: 600_000,
  teammates: 'in-process',
  store: 'embedded',
  leaseMs: 15_000,
  queuePriority: 0,
  queueDelayMs: 0,
  personKeys: [],
  sharedPaths: [],
  maxOutputTokens: 32_000,
  streamIdleTimeoutMs: 120_000,
  maxRetries: 10,
  modelAliases: {},
  simple: false,
  disableMemoryFiles: false,
  autoMemory: false,
  teamMemory: false,
  disableExperimentalBetas: false,
  cacheHourFor: [],
  mcpInstructionsDelta: true,
  webSearch: true,
  allowPrivateAddresses: [],
  redactSecrets: true,
  sandbox: 'off',
  sessionRetentionDays: 30,
  checkpointRetentionDays: 30,
  worktreeRetentionDays: 30,
};

export interface KeyRule {
  readonly schema: z.ZodType;
  /** Noun phrase that completes "expected …". */
  readonly expects: string;
}

const zeroOrMore: KeyRule = { schema: z.int().min(0), expects: 'a whole number of 0 or more' };
const trueOrFalse: KeyRule = { schema: z.boolean(), expects: 'true or false' };
const oneOrMore: KeyRule = { schema: z.int().min(1), expects: 'a whole number of 1 or more' };

/** Host with an optional port, without scheme, path or pattern. */
const host = z.string().regex(/^(?:\[[0-9a-f:.]+\]|[^\s/:@*[\]]+)(?::\d{1,5})?$|^[0-9a-f:.]+$/i);
/** Name of a query source, optionally with a trailing `*`. */
const querySource = z.string().regex(/^(?:[\w.:/-]+\*?|\*)$/);
/** Schema for a list, or for text with commas as in an environment variable. */
const listOf = (entry: z.ZodString) =>
  z.union([z.array(entry), z.string().transform(listed).pipe(z.array(entry))]);
const listed = (text: string) => text.split(',').map((entry) => entry.trim());

/** Rules by key, in the order of `skein config`. */
export const SKEIN_KEYS: Readonly<Record<SkeinKey, KeyRule>> = {
  maxAgents: zeroOrMore,
  maxConcurrentAgents: zeroOrMore,
  maxDepth: zeroOrMore,
  maxCallsPerMessage: zeroOrMore,
  refusedTurnsBeforeWarning: oneOrMore,
  maxRefusedTurns: oneOrMore,
  maxRepeatedCalls: { schema: z.int().min(2), expects: 'a whole number of 2 or more' },
  maxConcurrentRequests: zeroOrMore,
  maxBudgetUsd: { schema: z.number().min(0), expects: 'an amount in US dollars of 0 or more' },
  maxBudgetTokens: { schema: z.int().min(0), expects: 'a number of tokens of 0 or more' },
  agentIdleTimeoutMs: oneOrMore,
  agentWallTimeoutMs: oneOrMore,
  permissionTimeoutMs: oneOrMore,
  teammates: { schema: z.enum(['in-process', 'tmux']), expects: 'one of in-process, tmux' },
  store: {
    schema: z.string().regex(/^(?:embedded|(?:rediss?(?:\+(?:sentinel|cluster))?|unix):\/\/.+)$/),
    expects: '"embedded" or a URL that begins with redis:// or rediss://',
  },
  leaseMs: { schema: z.int().min(1_000), expects: 'a whole number of 1,000 or more' },
  queuePriority: {
    schema: z.int().min(0).max(1_000_000),
    expects: 'a whole number from 0 to 1,000,000',
  },
  queueDelayMs: zeroOrMore,
  personKeys: {
    schema: listOf(z.string().regex(/^[A-Za-z0-9_-]{40,120}$/)),
    expects: 'a list of public keys as `skein config` shows them',
  },
  sharedPaths: { schema: listOf(z.string().startsWith('/')), expects: 'a list of absolute paths' },
  workspaceRemote: {
    // Rejects options of git and programs of the `ext` transport.
    schema: z.string().regex(/^(?!-|ext::)[^\p{Cc}]+$/u),
    expects: 'the name of a git remote, or a URL',
  },
  effort: {
    schema: z.enum(['low', 'medium', 'high', 'xhigh', 'max']),
    expects: 'one of low, medium, high, xhigh, max',
  },
  thinking: {
    schema: z.union([z.enum(['off', 'adaptive']), z.int().min(1)]),
    expects: '"off", "adaptive" or a number of tokens',
  },
  contextWindow: { schema: z.int().min(1_000), expects: 'a number of tokens of 1,000 or more' },
  maxOutputTokens: oneOrMore,
  streamIdleTimeoutMs: oneOrMore,
  maxRetries: zeroOrMore,
  modelAliases: {
    schema: z.record(z.string(), z.string().min(1)),
    expects: 'an object of names and model ids',
  },
  simple: trueOrFalse,
  disableMemoryFiles: trueOrFalse,
  autoMemory: trueOrFalse,
  teamMemory: trueOrFalse,
  disableExperimentalBetas: trueOrFalse,
  cacheHourFor: {
    schema: listOf(querySource),
    expects: 'a list of query sources such as repl or repl*',
  },
  cacheBreaker: { schema: z.string().max(200), expects: 'a text of at most 200 characters' },
  mcpInstructionsDelta: trueOrFalse,
  webSearch: trueOrFalse,
  allowPrivateAddresses: {
    schema: listOf(host),
    expects: 'a list of hosts such as localhost or 10.0.0.7:8080',
  },
  redactSecrets: trueOrFalse,
  sandbox: {
    schema: z.enum(['off', 'auto', 'required']),
    expects: 'one of off, auto, required',
  },
  sessionRetentionDays: zeroOrMore,
  checkpointRetentionDays: zeroOrMore,
  worktreeRetentionDays: zeroOrMore,
};

export const isSkeinKey = (key: string): key is SkeinKey => Object.hasOwn(SKEIN_KEYS, key);

/** Returns `SKEIN_MAX_BUDGET_USD` for `maxBudgetUsd`. */
export const environmentName = (key: string): string =>
  `SKEIN_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
