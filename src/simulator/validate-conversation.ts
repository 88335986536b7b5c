/** Validates the conversation as a whole: the order of roles, and a result for every tool call. */
import { isRecord } from '../lib/json/is-record.js';
import { invalidRequest } from './api-error.js';
import type { CacheControl, RequestMessage } from './messages-request.js';
import { refuseUnless, validateBlock } from './validate-block.js';

/** Returns the cache breakpoints in message order. Throws ApiError with the text of the API. */
export const validateConversation = (messages: unknown): CacheControl[] => {
  if (!Array.isArray(messages)) throw invalidRequest('messages: Input should be a valid list');
  refuseUnless(messages.length > 0, 'messages: at least one message is required');
  const breakpoints: CacheControl[] = [];
  messages.forEach((message: unknown, index) => {
    checkMessage(message, index, index === messages.length - 1, breakpoints);
  });
  const isUser = messages[0].role === 'user';
  refuseUnless(isUser, 'messages: first message must use the "user" role');
  checkCalls(messages);
  return breakpoints;
};

const checkMessage = (
  message: unknown,
  index: number,
  isLast: boolean,
  breakpoints: CacheControl[],
) => {
  const at = `messages.${index}`;
  if (!isRecord(message)) throw invalidRequest(`${at}: Input should be a valid dictionary`);
  const { role, content } = message;
  const isRole = role === 'user' || role === 'assistant' || role === 'system';
  refuseUnless(isRole, `${at}.role: Input should be 'user' or 'assistant'`);
  for (const field of Object.keys(message)) {
    const isKnown = field === 'role' || field === 'content';
    refuseUnless(isKnown, `${at}.${field}: Extra inputs are not permitted`);
  }
  refuseUnless(content !== undefined, `${at}.content: Field required`);
  const isEmpty = content === '' || (Array.isArray(content) && content.length === 0);
  // The API allows an empty final assistant message, which the model continues.
  refuseUnless(
    !isEmpty || (isLast && role === 'assistant'),
    `${at}: all messages must have non-empty content except for the optional final assistant message`,
  );
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) throw invalidRequest(`${at}.content: Input should be a valid list`);
  content.forEach((block: unknown, position) => {
    breakpoints.push(...validateBlock(block, `${at}.content.${position}`, role));
  });
};

/** Throws ApiError unless the next message starts with exactly one result per `tool_use`. */
const checkCalls = (messages: readonly RequestMessage[]): void => {
  const callIds = new Set<string>();
  let open: ReadonlySet<string> = NO_IDS;
  messages.forEach((message, index) => {
    const results = message.role === 'user' ? checkResults(message, index, open) : NO_IDS;
    if (results.size < open.size) {
      const missing = [...open].filter((id) => !results.has(id));
      throw unanswered(index - 1, missing);
    }
    open = message.role === 'assistant' ? callsOf(message, index, callIds) : NO_IDS;
  });
  if (open.size > 0) throw unanswered(messages.length - 1, [...open]);
};

const NO_IDS: ReadonlySet<string> = new Set();

const checkResults = (
  message: RequestMessage,
  index: number,
  open: ReadonlySet<string>,
): ReadonlySet<string> => {
  if (typeof message.content === 'string') return NO_IDS;
  const results = new Set<string>();
  let hasOtherBlock = false;
  message.content.forEach((block, position) => {
    if (block.type !== 'tool_result') {
      hasOtherBlock = true;
      return;
    }
    const at = `messages.${index}.content.${position}`;
    const id = String(block.tool_use_id);
    if (!open.has(id))
      throw invalidRequest(
        `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    refuseUnless(
      !results.has(id),
      `${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
    );
    refuseUnless(
      !hasOtherBlock,
      `${at}: \`tool_result\` blocks must come before all other content of the message`,
    );
    results.add(id);
  });
  return results;
};

const callsOf = (
  message: RequestMessage,
  index: number,
  callIds: Set<string>,
): ReadonlySet<string> => {
  if (typeof message.content === 'string') return NO_IDS;
  const calls = new Set<string>();
  message.content.forEach((block, position) => {
    if (block.type !== 'tool_use') return;
    const id = String(block.id);
    const at = `messages.${index}.content.${position}`;
    const isId = /^[a-zA-Z0-9_-]+$/.test(id);
    refuseUnless(isId, `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
    refuseUnless(!callIds.has(id), `messages.${index}: \`tool_use\` ids must be unique`);
    callIds.add(id);
    calls.add(id);
  });
  return calls;
};

const unanswered = (index: number, ids: readonly string[]) =>
  invalidRequest(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
