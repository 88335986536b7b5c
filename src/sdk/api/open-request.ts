/** Requests with which a program opens a session in another process and starts runs. Both ends. */
import { z } from 'zod';
import { UsageError } from '../../protocol/skein-error.js';
import type { ChannelRequest, JsonLineChannel } from './json-line-channel.js';
import type { QueryOptions } from './query-options.js';
import { remoteCallbacks } from './remote-callbacks.js';

/** Options are sent over the channel because command line arguments are limited in length. */
const openRequestSchema = z.object({
  options: z.record(z.string(), z.unknown()),
  title: z.string(),
  lingers: z.boolean(),
  /** True if the API key is in the environment of the process. */
  hasKey: z.boolean(),
  canUseTool: z.boolean(),
  onQuestion: z.boolean(),
});
type OpenRequest = z.infer<typeof openRequestSchema>;

const runRequestSchema = z.object({
  prompt: z.object({ blocks: z.string(), title: z.string() }).optional(),
});

/** Throws UsageError if the options contain functions that another process cannot call. */
export const openRequest = (
  queryOptions: QueryOptions,
  title: string,
  staysIdle: boolean,
): ChannelRequest & OpenRequest => {
  const { tools = [], hooks = {}, canUseTool, onQuestion, apiKey, ...rest } = queryOptions;
  const { signal: _signal, env: _env, subprocess: _subprocess, ...options } = rest;
  if (tools.length > 0)
    throw new UsageError(inProcessOnlyMessage('tools', 'leave one of the two out'));
  if (Object.keys(hooks).length > 0) {
    throw new UsageError(
      inProcessOnlyMessage('hooks', 'hooks that are commands can be in "settings"'),
    );
  }
  return {
    subtype: 'open',
    options: { ...options },
    title,
    lingers: staysIdle,
    hasKey: apiKey !== undefined,
    canUseTool: canUseTool !== undefined,
    onQuestion: onQuestion !== undefined,
  };
};

const inProcessOnlyMessage = (option: string, advice: string): string =>
  `The options cannot be used: "${option}" are functions of this process, which "subprocess" does not have; ${advice}.`;

/** Returns the options for the agent's process. Callbacks are forwarded to the program. */
export const readOpenRequest = (
  request: ChannelRequest,
  channel: JsonLineChannel,
  env: Readonly<Record<string, string | undefined>>,
) => {
  const { options, title, lingers, hasKey, ...rest } = openRequestSchema.parse(request);
  const { canUseTool, onQuestion } = remoteCallbacks(channel);
  const all: QueryOptions = {
    ...options,
    ...(hasKey && { apiKey: env.ANTHROPIC_API_KEY ?? '' }),
    ...(rest.canUseTool && { canUseTool }),
    ...(rest.onQuestion && { onQuestion }),
  };
  return { options: all, title, staysIdle: lingers };
};

const openResponseSchema = z.object({ session_id: z.string() });
export const openResponse = (session_id: string): z.infer<typeof openResponseSchema> => ({
  session_id,
});
export const readOpenResponse = (answer: unknown): string =>
  openResponseSchema.parse(answer).session_id;

/** Returns the prompt of a run, or undefined if a resumed session continues its last run. */
export const readRunRequest = (request: ChannelRequest) => runRequestSchema.parse(request).prompt;
