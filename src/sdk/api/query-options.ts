/** What a program may ask of a run. */
import { z } from 'zod';
import type { AgentDescription } from '../../config/agents/agent-flag.js';
import { UsageError } from '../../protocol/errors.js';
import { HOOK_EVENTS } from '../../protocol/permission/hooks.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission/permission.js';
import type { Tool } from '../../protocol/tools/tool.js';
import type { RunOptions } from '../assembly/options/run-options.js';
import type { HookFunctions } from '../assembly/run-hooks.js';
import type { CanUseTool, OnQuestion } from './callback-surface.js';

export interface QueryOptions
  extends Omit<RunOptions, 'agents' | 'jsonSchema' | 'permissionMode' | 'settings'> {
  readonly permissionMode?: PermissionMode;
  /** Settings, JSON of them, or the path of a file. */
  readonly settings?: string | Readonly<Record<string, unknown>>;
  /** More agents by their names, or JSON of them; stronger than those in files. */
  readonly agents?: string | Readonly<Record<string, AgentDescription>>;
  /** Asks the model for JSON of this schema; it is then in `structured_output` of the result. */
  readonly jsonSchema?: string | Readonly<Record<string, unknown>>;
  /** Tools of the program's own, made with `tool()`. */
  readonly tools?: readonly Tool[];
  readonly canUseTool?: CanUseTool;
  readonly onQuestion?: OnQuestion;
  /** Functions that look on, add to, or stop what agents do; those of the settings run as well. */
  readonly hooks?: HookFunctions;
  /** Ends the run as interrupted. */
  readonly signal?: AbortSignal;
  /** Also the events of unfinished messages. */
  readonly includePartialMessages?: boolean;
  /** The environment of the run and of its commands; by default that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The state directory; by default SKEIN_HOME, or ~/.skein. */
  readonly skeinHome?: string;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  /** What the session is called in lists; by default its first prompt. */
  readonly title?: string;
  /** The agent has a process of its own, which may crash and leaves this one alone. */
  readonly subprocess?: boolean;
}

const text = z.string();
const list = z.array(text);
const object = z.record(z.string(), z.unknown());
const callback = z.custom((value) => typeof value === 'function', 'must be a function');

const hookGroup = z.strictObject({
  matcher: text.optional(),
  hooks: z.array(callback),
  timeout: z.number().positive().optional(),
});

const schema = z.strictObject({
  model: text,
  fallbackModel: text,
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']),
  maxTurns: z.int().min(0),
  maxBudgetUsd: z.number().min(0),
  maxBudgetTokens: z.int().min(0),
  permissionMode: z.enum(PERMISSION_MODES),
  allowedTools: list,
  disallowedTools: list,
  systemPrompt: text,
  appendSystemPrompt: text,
  overrideSystemPrompt: text,
  agent: text,
  // What is wrong in it is told with its name when it is read.
  agents: z.union([text, object]),
  bare: z.boolean(),
  settings: z.union([text, object]),
  addDir: list,
  cwd: text,
  resume: text,
  continue: z.boolean(),
  forkSession: z.boolean(),
  sessionId: text,
  jsonSchema: z.union([text, object]),
  store: text,
  sessionPersistence: z.boolean(),
  trust: z.boolean(),
  ask: z.boolean(),
  tools: z.array(
    z.custom<Tool>((it) => (it as Tool | null)?.kind === 'sdk', 'must be made with tool()'),
  ),
  canUseTool: callback,
  onQuestion: callback,
  hooks: z.partialRecord(z.enum(HOOK_EVENTS), z.array(hookGroup)),
  signal: z.custom((value) => value instanceof AbortSignal, 'must be an AbortSignal'),
  includePartialMessages: z.boolean(),
  env: object,
  skeinHome: text,
  apiKey: text,
  baseUrl: text,
  title: text,
  subprocess: z.boolean(),
} satisfies Record<keyof QueryOptions, z.ZodType>);

const options = schema.partial();

/** Throws a UsageError that names what is wrong: a misspelt option must not be ignored. */
export const checkOptions = (given: unknown): void => {
  const parsed = options.safeParse(given);
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `"${issue.path.join('.')}": `;
  throw new UsageError(`The options cannot be used: ${where}${issue?.message ?? 'unknown'}.`);
};
