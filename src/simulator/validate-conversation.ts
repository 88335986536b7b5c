/** The rules for the messages as a whole: who speaks first, and that every call has its answer. */
import { invalidRequest } from './api-error.js';
import type { CacheMark, RequestMessage } from './messages-request.js';
import { checkBlock, isRecord, refuseUnless } from './validate-block.js';

/** Throws the API's complaint; returns the marks in the order in which they stand. */
export const checkConversation = (messages: unknown): CacheMark[] => {
  if (!Array.isArray(messages)) throw invalidRequest('messages: Input should be a valid list');
  refuseUnless(messages.length > 0, 'messages: at least one message is required');
  const marks: CacheMark[] = [];
  messages.forEach((message: unknown, index) => {
    checkMessage(message, index, index === messages.length - 1, marks);
  });
  const isUser = messages[0].role === 'user';
  refuseUnless(isUser, 'messages: first message must use the "user" role');
  checkCalls(messages);
  return marks;
};

const checkMessage = (message: unknown, index: number, isLast: boolean, marks: CacheMark[]) => {
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
  // A final assistant message may be empty: it is a place to continue from.
  refuseUnless(
    !isEmpty || (isLast && role === 'assistant'),
    `${at}: all messages must have non-empty content except for the optional final assistant message`,
  );
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) throw invalidRequest(`${at}.content: Input should be a valid list`);
  content.forEach((block: unknown, position) => {
    marks.push(...checkBlock(block, `${at}.content.${position}`, role));
  });
};

/** Every tool_use is answered at the start of the next message, and nothing else is answered. */
const checkCalls = (messages: readonly RequestMessage[]): void => {
  const seen = new Set<string>();
  let open: ReadonlySet<string> = NONE;
  messages.forEach((message, index) => {
    const results = message.role === 'user' ? checkResults(message, index, open) : NONE;
    if (results.size < open.size) {
      const missing = [...open].filter((id) => !results.has(id));
      throw unanswered(index - 1, missing);
    }
    open = message.role === 'assistant' ? callsOf(message, index, seen) : NONE;
  });
  if (open.size > 0) throw unanswered(messages.length - 1, [...open]);
};

const NONE: ReadonlySet<string> = new Set();

const checkResults = (
  message: RequestMessage,
  index: number,
  open: ReadonlySet<string>,
): ReadonlySet<string> => {
  if (typeof message.content === 'string') return NONE;
  const results = new Set<string>();
  let hasOther = false;
  message.content.forEach((block, position) => {
    if (block.type !== 'tool_result') {
      hasOther = true;
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
      !hasOther,
      `${at}: \`tool_result\` blocks must come before all other content of the message`,
    );
    results.add(id);
  });
  return results;
};

const callsOf = (
  message: RequestMessage,
  index: number,
  seen: Set<string>,
): ReadonlySet<string> => {
  if (typeof message.content === 'string') return NONE;
  const calls = new Set<string>();
  message.content.forEach((block, position) => {
    if (block.type !== 'tool_use') return;
    const id = String(block.id);
    const at = `messages.${index}.content.${position}`;
    const isId = /^[a-zA-Z0-9_-]+$/.test(id);
    refuseUnless(isId, `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
    refuseUnless(!seen.has(id), `messages.${index}: \`tool_use\` ids must be unique`);
    seen.add(id);
    calls.add(id);
  });
  return calls;
};

const unanswered = (index: number, ids: readonly string[]) =>
  invalidRequest(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
