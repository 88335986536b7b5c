/** Builds the body of a side request: no history, no Skein tools, no cache breakpoints. */
import type { SideRequest } from '../../protocol/model/side-request.js';

export const sideRequestBody = (
  model: string,
  { system, prompt, serverTools, maxTokens }: SideRequest,
): Buffer =>
  Buffer.from(
    JSON.stringify({
      model,
      max_tokens: maxTokens,
      stream: true,
      ...(serverTools !== undefined && { tools: serverTools }),
      system,
      messages: [{ role: 'user', content: [{ type: 'text', text: prompt.toWellFormed() }] }],
    }),
  );
