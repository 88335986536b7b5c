/** Options of `query` and `openSession`. */
import { z } from 'zod';
import type { AgentDescription } from '../../config/agents/read-agents-flag.js';
import { HOOK_EVENTS } from '../../protocol/permission/hooks.js';
import {
  PERMISSION_MODES,
  type PermissionMode,
} from '../../protocol/permission/permission-mode.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { Tool } from '../../protocol/tools/tool.js';
import type { HookFunctions } from '../assembly/collect-hooks.js';
import type { RunOptions } from '../assembly/options/run-options.js';
import type { CanUseTool, OnQuestion } from './callback-surface.js';

export interface QueryOptions
  extends Omit<RunOptions, 'agents' | 'jsonSchema' | 'permissionMode' | 'settings'> {
  readonly permissionMode?: PermissionMode;
  /** Settings, settings as JSON, or the path of a settings file. */
  readonly settings?: string | Readonly<Record<string, unknown>>;
  /** More agent definitions by name, or JSON of them. They override definitions in files. */
  readonly agents?: string | Readonly<Record<string, AgentDescription>>;
  /** JSON schema of the answer, which is then in `structured_output` of the result. */
  readonly jsonSchema?: string | Readonly<Record<string, unknown>>;
  /** Tools of the program, made with `tool()`. */
  readonly tools?: readonly Tool[];
  readonly canUseTool?: CanUseTool;
  readonly onQuestion?: OnQuestion;
  /** Hook functions, which run beside the hooks of settings. */
  readonly hooks?: HookFunctions;
  /** Interrupts the run when it aborts. */
  readonly signal?: AbortSignal;
  /** True to receive raw events of unfinished messages too. Default: false. */
  readonly includePartialMessages?: boolean;
  /** Environment of the run and of its commands. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** State directory. Default: `SKEIN_HOME`, or `~/.skein`. */
  readonly skeinHome?: string;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  /** Title of the session in lists. Default: its first prompt. */
  readonly title?: string;
  /** True to run the agent in its own process, whose crash does not affect this one. Default: false. */
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
  // Checked when the agents are read, with errors that name the agent.
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
    z.custom<Tool>((value) => (value as Tool | null)?.kind === 'sdk', 'must be made with tool()'),
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

/** Throws UsageError that names the invalid option. Unknown options are invalid, because of typos. */
export const checkOptions = (input: unknown): void => {
  const parsed = options.safeParse(input);
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `"${issue.path.join('.')}": `;
  throw new UsageError(`The options cannot be used: ${where}${issue?.message ?? 'unknown'}.`);
};
