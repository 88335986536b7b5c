/** What a program and the process of its agent ask each other. Both sides of each question stand here. */
import { z } from 'zod';
import { UsageError } from '../../protocol/errors.js';
import type {
  PermissionAnswer,
  PersonAnswer,
  PersonQuestion,
} from '../../protocol/permission/permission.js';
import type { ToolQuestion } from './callback-surface.js';
import { type AskedRequest, type JsonLineChannel, SubprocessError } from './json-line-channel.js';
import type { QueryOptions } from './query-options.js';

/** Long texts go this way too: what one argument of a program may hold is little. */
const openRequest = z.object({
  options: z.record(z.string(), z.unknown()),
  title: z.string(),
  lingers: z.boolean(),
  /** The key is a variable of the process. */
  hasKey: z.boolean(),
  canUseTool: z.boolean(),
  onQuestion: z.boolean(),
});
type OpenRequest = z.infer<typeof openRequest>;

const runRequest = z.object({
  prompt: z.object({ blocks: z.string(), title: z.string() }).optional(),
});

/** Throws a UsageError for what only this process has. */
export const openRequestOf = (
  given: QueryOptions,
  title: string,
  lingers: boolean,
): AskedRequest & OpenRequest => {
  const { tools = [], hooks = {}, canUseTool, onQuestion, apiKey, ...rest } = given;
  const { signal: _signal, env: _env, subprocess: _subprocess, ...options } = rest;
  if (tools.length > 0) throw new UsageError(onlyHere('tools', 'leave one of the two out'));
  if (Object.keys(hooks).length > 0) {
    throw new UsageError(onlyHere('hooks', 'hooks that are commands can be in "settings"'));
  }
  return {
    subtype: 'open',
    options: { ...options },
    title,
    lingers,
    hasKey: apiKey !== undefined,
    canUseTool: canUseTool !== undefined,
    onQuestion: onQuestion !== undefined,
  };
};

const onlyHere = (option: string, instead: string): string =>
  `The options cannot be used: "${option}" are functions of this process, which "subprocess" does not have; ${instead}.`;

/** The options as the process of the agent has them: whoever was to be asked is asked through the link. */
export const openedFrom = (
  request: AskedRequest,
  link: JsonLineChannel,
  env: Readonly<Record<string, string | undefined>>,
) => {
  const { options, title, lingers, hasKey, ...asks } = openRequest.parse(request);
  const canUseTool = async (question: ToolQuestion, { signal }: Heard) =>
    (await link.request({ subtype: 'can_use_tool', question }, signal)) as PermissionAnswer;
  const onQuestion = async (question: PersonQuestion, { signal }: Heard) =>
    (await link.request({ subtype: 'ask_user', question }, signal)) as PersonAnswer;
  const all: QueryOptions = {
    ...options,
    ...(hasKey && { apiKey: env.ANTHROPIC_API_KEY ?? '' }),
    ...(asks.canUseTool && { canUseTool }),
    ...(asks.onQuestion && { onQuestion }),
  };
  return { options: all, title, lingers };
};

interface Heard {
  readonly signal: AbortSignal;
}

/** Of a run; undefined goes on with what the session was doing. */
export const promptFrom = (request: AskedRequest) => runRequest.parse(request).prompt;

const opened = z.object({ session_id: z.string() });
export const openedAnswer = (session_id: string): z.infer<typeof opened> => ({ session_id });
export const openedSession = (answer: unknown): string => opened.parse(answer).session_id;

/** Questions of the agent, put to the callbacks of the program. */
export const servedQuestions =
  ({ canUseTool, onQuestion }: QueryOptions) =>
  async (request: AskedRequest, signal: AbortSignal): Promise<unknown> => {
    if (request.subtype === 'can_use_tool' && canUseTool !== undefined) {
      return canUseTool(request.question as ToolQuestion, { signal });
    }
    if (request.subtype === 'ask_user' && onQuestion !== undefined) {
      return onQuestion(request.question as PersonQuestion, { signal });
    }
    throw new SubprocessError(`Nobody was asked to answer "${request.subtype}".`);
  };
