/** What `import … from 'skein'` gives: the whole surface for programs, and nothing else. */
import { fileURLToPath } from 'node:url';
import { type OpenSession, openSessionWith, type QueryFunction, queryWith } from './api/query.js';

// Here, because this file stands beside them in the bundle, and the rest does not.
const beside = (name: string) => [process.execPath, fileURLToPath(new URL(name, import.meta.url))];
const programs = { watchdog: beside('./watchdog.js'), skein: beside('./skein.js') };

/** Runs an agent on a prompt and yields its messages, the last of which is the result. */
export const query: QueryFunction = queryWith(programs);

/** Opens a session for several prompts; close it when you are done. */
export const openSession: OpenSession = openSessionWith(programs);

export { z } from 'zod';
export type { AgentDescription } from '../config/agents/agent-flag.js';
export type { StopReason } from '../protocol/agent/agent.js';
export { SkeinError, StorageError, UsageError } from '../protocol/errors.js';
export type { HookFunction } from '../protocol/permission/hook-setup.js';
export type { HookEvent } from '../protocol/permission/hooks.js';
export type {
  AnswerScope,
  Asker,
  PermissionAnswer,
  PermissionMode,
  PermissionQuestion,
  PersonAnswer,
  PersonOption,
  PersonQuestion,
} from '../protocol/permission/permission.js';
export { type ResultBlock, type Tool, ToolFailure } from '../protocol/tools/tool.js';
export type { CanUseTool, OnQuestion, ToolQuestion } from './api/callback-surface.js';
export {
  type CustomToolAnswer,
  type CustomToolContext,
  type ToolDefinition,
  tool,
} from './api/custom-tool.js';
export type * from './api/messages/messages.js';
export type { PromptBlock, PromptContent } from './api/messages/prompt-blocks.js';
export type { Query, QueryRequest, Session } from './api/query.js';
export type { QueryOptions } from './api/query-options.js';
export type { JsonSchema, StandardSchema, ToolInput } from './api/tool-input.js';
export type { HookFunctionGroup, HookFunctions } from './assembly/run-hooks.js';
export { VERSION } from './version.js';
