/** Calls a program's callbacks from the agent's process, over the channel. Both ends. */
import type {
  PermissionAnswer,
  PersonAnswer,
} from '../../protocol/permission/permission-question.js';
import type { Callbacks, CanUseTool, OnQuestion } from './callback-surface.js';
import { type ChannelRequest, type JsonLineChannel, SubprocessError } from './json-line-channel.js';

/** Returns callbacks for the agent's process. They reject if the program's callback throws. */
export const remoteCallbacks = (
  channel: JsonLineChannel,
): { readonly canUseTool: CanUseTool; readonly onQuestion: OnQuestion } => ({
  canUseTool: async (question, { signal }) =>
    (await channel.request({ subtype: 'can_use_tool', question }, signal)) as PermissionAnswer,
  onQuestion: async (question, { signal }) =>
    (await channel.request({ subtype: 'ask_user', question }, signal)) as PersonAnswer,
});

/** Returns the request handler of the program, which calls its own callbacks. */
export const serveCallbacks =
  ({ canUseTool, onQuestion }: Callbacks) =>
  async (request: ChannelRequest, signal: AbortSignal): Promise<unknown> => {
    if (request.subtype === 'can_use_tool' && canUseTool !== undefined) {
      return canUseTool(request.question as Parameters<CanUseTool>[0], { signal });
    }
    if (request.subtype === 'ask_user' && onQuestion !== undefined) {
      return onQuestion(request.question as Parameters<OnQuestion>[0], { signal });
    }
    throw new SubprocessError(`The program has no callback for "${request.subtype}".`);
  };
