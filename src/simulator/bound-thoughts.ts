/**
 * Thoughts are bound to the tools, the system prompt and every message before them: sent back behind
 * anything else they are refused, as the API does. Only signatures of our own making can be checked.
 */
import { invalidRequest } from './api-error.js';
import { shortId } from './compose.js';
import { type Block, blocksOf, type MessagesRequest } from './messages-request.js';
import { promptBlocks } from './prompt-blocks.js';

const OURS = 'bound_';

/** For the thoughts of the answer to a request. */
export const bindingOf = (request: MessagesRequest): string =>
  signature(promptBlocks(plain(request)).at(-1)?.digest);

/** Throws the API's complaint about the first thought that belongs elsewhere. */
export const checkThoughts = (request: MessagesRequest): void => {
  const { messages } = request;
  if (!messages.some(({ content }) => blocksOf(content).some(isOurs))) return;
  const prompt = promptBlocks(plain(request));
  let before = prompt.length - messages.flatMap(({ content }) => blocksOf(content)).length;
  for (const [index, { content }] of messages.entries()) {
    const bound = signature(prompt[before - 1]?.digest);
    const at = blocksOf(content).findIndex((block) => isOurs(block) && block.signature !== bound);
    if (at >= 0) throw invalidRequest(complaint(`messages.${index}.content.${at}`));
    before += blocksOf(content).length;
  }
};

const isOurs = ({ type, signature }: Block): boolean =>
  type === 'thinking' && typeof signature === 'string' && signature.startsWith(OURS);

const signature = (digest = ''): string => `${OURS}${shortId(digest)}`;

/** Another model or another way to think is no other conversation. */
const plain = ({ tools, system, messages }: MessagesRequest): MessagesRequest => ({
  model: '',
  max_tokens: 1,
  messages,
  ...(tools !== undefined && { tools }),
  ...(system !== undefined && { system }),
});

const complaint = (at: string): string =>
  `${at}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation.`;
