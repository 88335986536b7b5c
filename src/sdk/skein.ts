/** What `import … from 'skein'` gives: the whole surface for programs, and nothing else. */
import { fileURLToPath } from 'node:url';
import { type OpenSession, openSessionWith, type QueryFunction, queryWith } from './query.js';

// Here, because this file stands beside them in the bundle, and the rest does not.
const beside = (name: string) => [process.execPath, fileURLToPath(new URL(name, import.meta.url))];
const programs = { watchdog: beside('./watchdog.js'), skein: beside('./skein.js') };

/** Runs an agent on a prompt and yields its messages, the last of which is the result. */
export const query: QueryFunction = queryWith(programs);

/** Opens a session for several prompts; close it when you are done. */
export const openSession: OpenSession = openSessionWith(programs);

export { z } from 'zod';
export type { AgentDescription } from '../config/agent-flag.js';
export type { StopReason } from '../protocol/agent.js';
export { SkeinError, StorageError, UsageError } from '../protocol/errors.js';
export type { HookFunction } from '../protocol/hook-setup.js';
export type { HookEvent } from '../protocol/hooks.js';
export type {
  AnswerScope,
  Asker,
  PermissionAnswer,
  PermissionMode,
  PermissionQuestion,
  PersonAnswer,
  PersonOption,
  PersonQuestion,
} from '../protocol/permission.js';
export { type ResultBlock, type Tool, ToolFailure } from '../protocol/tool.js';
export type { CanUseTool, OnQuestion, ToolQuestion } from './callback-surface.js';
export {
  type CustomToolAnswer,
  type CustomToolContext,
  type ToolDefinition,
  tool,
} from './custom-tool.js';
export type * from './messages.js';
export type { PromptBlock, PromptContent } from './prompt-blocks.js';
export type { Query, QueryRequest, Session } from './query.js';
export type { QueryOptions } from './query-options.js';
export type { HookFunctionGroup, HookFunctions } from './run-hooks.js';
export type { JsonSchema, StandardSchema, ToolInput } from './tool-input.js';
export { VERSION } from './version.js';
