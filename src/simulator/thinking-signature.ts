/**
 * Thinking signatures: a signature binds a thinking block to the tools, the system prompt and all
 * messages before it. As in the API, a block behind another prefix is refused. Only signatures made
 * here are checked.
 */
import { invalidRequest } from './api-error.js';
import { shortId } from './compose-reply.js';
import { type Block, blocksOf, type MessagesRequest } from './messages-request.js';
import { prefixBlocks } from './prefix-blocks.js';

const SIGNATURE_PREFIX = 'bound_';

/** Returns the signature for thinking blocks in the answer to this request. */
export const thinkingSignature = (request: MessagesRequest): string =>
  signature(prefixBlocks(conversationOnly(request)).at(-1)?.digest);

/** Throws ApiError for the first thinking block whose signature belongs to another prefix. */
export const checkThinkingSignatures = (request: MessagesRequest): void => {
  const { messages } = request;
  if (!messages.some(({ content }) => blocksOf(content).some(hasOwnSignature))) return;
  const prompt = prefixBlocks(conversationOnly(request));
  let before = prompt.length - messages.flatMap(({ content }) => blocksOf(content)).length;
  for (const [index, { content }] of messages.entries()) {
    const bound = signature(prompt[before - 1]?.digest);
    const at = blocksOf(content).findIndex(
      (block) => hasOwnSignature(block) && block.signature !== bound,
    );
    if (at >= 0) throw invalidRequest(invalidSignature(`messages.${index}.content.${at}`));
    before += blocksOf(content).length;
  }
};

const hasOwnSignature = ({ type, signature }: Block): boolean =>
  type === 'thinking' && typeof signature === 'string' && signature.startsWith(SIGNATURE_PREFIX);

const signature = (digest = ''): string => `${SIGNATURE_PREFIX}${shortId(digest)}`;

/** Keeps the fields that signatures bind. The model and the thinking options may change. */
const conversationOnly = ({ tools, system, messages }: MessagesRequest): MessagesRequest => ({
  model: '',
  max_tokens: 1,
  messages,
  ...(tools !== undefined && { tools }),
  ...(system !== undefined && { system }),
});

const invalidSignature = (at: string): string =>
  `${at}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation.`;
