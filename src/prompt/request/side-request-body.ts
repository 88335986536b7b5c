/** The body of a request that stands for itself: no history, no tools of ours, no cache marks. */
import type { ConsultRequest } from '../../protocol/model/side-request.js';

export const consultBody = (
  model: string,
  { system, prompt, serverTools, maxTokens }: ConsultRequest,
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
