/** Public API of the package: everything that `import … from 'skein'` exports. */
import { fileURLToPath } from 'node:url';
import { type OpenSession, openSessionWith, type QueryFunction, queryWith } from './api/query.js';

// Resolved in this file, because its bundle is in the same folder as the two programs.
const beside = (name: string) => [process.execPath, fileURLToPath(new URL(name, import.meta.url))];
const programs = {
  watchdog: beside('./watchdog.cjs'),
  skein: beside('./skein.cjs'),
  shardThread: fileURLToPath(new URL('./shard-thread.cjs', import.meta.url)),
};

/** Runs an agent on a prompt and yields its messages. The last message is the result. */
export const query: QueryFunction = queryWith(programs);

/** Opens a session for several prompts. Close it when you are done. Rejects with UsageError. */
export const openSession: OpenSession = openSessionWith(programs);

export { z } from 'zod';
export type { AgentDescription } from '../config/agents/read-agents-flag.js';
export type { StopReason } from '../protocol/agent/stop.js';
export type { HookFunction } from '../protocol/permission/hook-setup.js';
export type { HookEvent } from '../protocol/permission/hooks.js';
export type { PermissionMode } from '../protocol/permission/permission-mode.js';
export type {
  AnswerScope,
  Asker,
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
  PersonOption,
  PersonQuestion,
} from '../protocol/permission/permission-question.js';
export { SkeinError, StorageError, UsageError } from '../protocol/skein-error.js';
export { type ResultBlock, type Tool, ToolFailure } from '../protocol/tools/tool.js';
export type { CanUseTool, OnQuestion, ToolQuestion } from './api/callback-surface.js';
export {
  type CustomToolAnswer,
  type CustomToolContext,
  customTool as tool,
  type ToolDefinition,
} from './api/custom-tool.js';
export type { PromptBlock, PromptContent } from './api/messages/prompt-content.js';
export type * from './api/messages/skein-message.js';
export type { Query, QueryRequest, Session } from './api/query.js';
export type { QueryOptions } from './api/query-options.js';
export type { JsonSchema, StandardSchema, ToolInput } from './api/tool-input.js';
export type { HookFunctionGroup, HookFunctions } from './assembly/collect-hooks.js';
export { VERSION } from './assembly/version.js';
