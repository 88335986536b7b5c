/**
 * The settings that are only ours: the key `skein` of settings.json, and an environment variable of
 * the same name for each (`skein.maxAgents` is `SKEIN_MAX_AGENTS`).
 */
import { z } from 'zod';

export interface SkeinSettings {
  /** Agents that one run may spawn. */
  readonly maxAgents: number;
  /** Agents at work at once; the rest queue. Zero is no agents. */
  readonly maxConcurrentAgents: number;
  readonly maxDepth: number;
  /** Zero sends nothing, and no run begins. */
  readonly maxConcurrentRequests: number;
  /** Ceilings for a run and all its agents: of money, and of all tokens that the server counts. */
  readonly maxBudgetUsd?: number;
  readonly maxBudgetTokens?: number;
  readonly agentIdleTimeoutMs: number;
  readonly agentWallTimeoutMs: number;
  readonly permissionTimeoutMs: number;
  /** Where people see teammates: among all else, or each in a tmux pane of its own. */
  readonly teammates: 'in-process' | 'tmux';
  /** `embedded` or a Redis URL. */
  readonly store: string;
  /** In Redis: a process that says nothing for so long loses what it works on to others. */
  readonly leaseMs: number;
  /** In the queue of workers: lower ones first, 0 ahead of all. */
  readonly queuePriority: number;
  /** Workers begin background agents no earlier than so long after they were asked for. */
  readonly queueDelayMs: number;
  /** Public keys of people who may answer agents here, and start swarms for workers here, beside your own. */
  readonly personKeys: readonly string[];
  /** Folders that are the same on all machines: a worker may work in them for a lead elsewhere. */
  readonly sharedPaths: readonly string[];
  /** A git remote of the workspace, by name or URL: workers on other machines clone it. */
  readonly workspaceRemote?: string;
  readonly effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /** A number is a budget in tokens. */
  readonly thinking?: 'off' | 'adaptive' | number;
  /** Tokens, where the table of models does not know or should not be believed. */
  readonly contextWindow?: number;
  /** Less where the model writes less. */
  readonly maxOutputTokens: number;
  /** How long a response may be silent. */
  readonly streamIdleTimeoutMs: number;
  readonly maxRetries: number;
  readonly modelAliases: Readonly<Record<string, string>>;
  /** One line of prompt, and no sections. */
  readonly simple: boolean;
  /** The instructions that people leave in files are not read. */
  readonly disableMemoryFiles: boolean;
  /** Whether agents keep notes of their own, and share those of a team. */
  readonly autoMemory: boolean;
  readonly teamMemory: boolean;
  /** No header asks for what the API still tries out. */
  readonly disableExperimentalBetas: boolean;
  /** What asks with a cache of an hour: `repl`, or `repl*` for all that begins so. */
  readonly cacheHourFor: readonly string[];
  /** Stands in the context, so that another word makes the cache begin anew. */
  readonly cacheBreaker?: string;
  /** What MCP servers tell joins the messages instead of the system prompt. */
  readonly mcpInstructionsDelta: boolean;
  /** Whether the provider is asked to search the web. */
  readonly webSearch: boolean;
  /** Hosts, or hosts with ports, of this machine and its network that WebFetch may ask. */
  readonly allowPrivateAddresses: readonly string[];
  /** What tools return loses its secrets before the model, the journal or a screen gets it. */
  readonly redactSecrets: boolean;
  /** Whether commands run in a sandbox: where there is one, or not at all without it. */
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
  /** Completes the sentence "expected …". */
  readonly expects: string;
}

const atLeastNone: KeyRule = { schema: z.int().min(0), expects: 'a whole number of 0 or more' };
const yesOrNo: KeyRule = { schema: z.boolean(), expects: 'true or false' };
const atLeastOne: KeyRule = { schema: z.int().min(1), expects: 'a whole number of 1 or more' };

/** No scheme, no path, no pattern: one host, and perhaps its port. */
const host = z.string().regex(/^(?:\[[0-9a-f:.]+\]|[^\s/:@*[\]]+)(?::\d{1,5})?$|^[0-9a-f:.]+$/i);
/** A name, whole or up to a star. */
const querySource = z.string().regex(/^(?:[\w.:/-]+\*?|\*)$/);
/** A variable has commas between them. */
const listOf = (entry: z.ZodString) =>
  z.union([z.array(entry), z.string().transform(listed).pipe(z.array(entry))]);
const listed = (text: string) => text.split(',').map((entry) => entry.trim());

/** In the order in which `skein config` shows them. */
export const SKEIN_KEYS: Readonly<Record<SkeinKey, KeyRule>> = {
  maxAgents: atLeastNone,
  maxConcurrentAgents: atLeastNone,
  maxDepth: atLeastNone,
  maxConcurrentRequests: atLeastNone,
  maxBudgetUsd: { schema: z.number().min(0), expects: 'an amount in US dollars of 0 or more' },
  maxBudgetTokens: { schema: z.int().min(0), expects: 'a number of tokens of 0 or more' },
  agentIdleTimeoutMs: atLeastOne,
  agentWallTimeoutMs: atLeastOne,
  permissionTimeoutMs: atLeastOne,
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
  queueDelayMs: atLeastNone,
  personKeys: {
    schema: listOf(z.string().regex(/^[A-Za-z0-9_-]{40,120}$/)),
    expects: 'a list of public keys as `skein config` shows them',
  },
  sharedPaths: { schema: listOf(z.string().startsWith('/')), expects: 'a list of absolute paths' },
  workspaceRemote: {
    // Neither an option of git nor a program of the `ext` transport.
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
  maxOutputTokens: atLeastOne,
  streamIdleTimeoutMs: atLeastOne,
  maxRetries: atLeastNone,
  modelAliases: {
    schema: z.record(z.string(), z.string().min(1)),
    expects: 'an object of names and model ids',
  },
  simple: yesOrNo,
  disableMemoryFiles: yesOrNo,
  autoMemory: yesOrNo,
  teamMemory: yesOrNo,
  disableExperimentalBetas: yesOrNo,
  cacheHourFor: {
    schema: listOf(querySource),
    expects: 'a list of query sources such as repl or repl*',
  },
  cacheBreaker: { schema: z.string().max(200), expects: 'a text of at most 200 characters' },
  mcpInstructionsDelta: yesOrNo,
  webSearch: yesOrNo,
  allowPrivateAddresses: {
    schema: listOf(host),
    expects: 'a list of hosts such as localhost or 10.0.0.7:8080',
  },
  redactSecrets: yesOrNo,
  sandbox: {
    schema: z.enum(['off', 'auto', 'required']),
    expects: 'one of off, auto, required',
  },
  sessionRetentionDays: atLeastNone,
  checkpointRetentionDays: atLeastNone,
  worktreeRetentionDays: atLeastNone,
};

export const isSkeinKey = (key: string): key is SkeinKey => Object.hasOwn(SKEIN_KEYS, key);

/** `maxBudgetUsd` → `SKEIN_MAX_BUDGET_USD`. */
export const environmentName = (key: string): string =>
  `SKEIN_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
