/** The rules for one content block, wherever it stands. */
import { invalidRequest } from './api-error.js';
import type { Block, CacheMark } from './messages-request.js';

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function refuseUnless(holds: boolean, message: string): asserts holds {
  if (!holds) throw invalidRequest(message);
}

type Place = 'user' | 'assistant' | 'system' | 'result';

const USER = ['text', 'image', 'document', 'search_result', 'tool_result', 'container_upload'];
const SERVER_RESULTS = [
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'mcp_tool_result',
];
const ASSISTANT = [
  'text',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'server_tool_use',
  'mcp_tool_use',
  'compaction',
  'container_upload',
  ...SERVER_RESULTS,
];
const TYPES: Readonly<Record<Place, readonly string[]>> = {
  user: USER,
  assistant: ASSISTANT,
  system: ['text'],
  result: ['text', 'image', 'document', 'search_result', 'tool_reference'],
};

/** Fields without which a block of the type is refused. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['source'],
  document: ['source'],
  thinking: ['signature', 'thinking'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'input', 'name'],
  server_tool_use: ['id', 'input', 'name'],
  tool_result: ['tool_use_id'],
  ...Object.fromEntries(SERVER_RESULTS.map((type) => [type, ['content', 'tool_use_id']])),
};

/** Throws the API's complaint; returns the marks that the block and its parts carry. */
export const checkBlock = (block: unknown, at: string, place: Place): CacheMark[] => {
  if (!isRecord(block)) throw invalidRequest(`${at}: Input should be a valid dictionary`);
  const { type } = block;
  refuseUnless(typeof type === 'string', `${at}.type: Field required`);
  const allowed = TYPES[place];
  if (!allowed.includes(type))
    throw invalidRequest(
      `${at}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${allowed.map((tag) => `'${tag}'`).join(', ')}`,
    );
  for (const field of REQUIRED[type] ?? [])
    refuseUnless(block[field] !== undefined, `${at}.${type}.${field}: Field required`);
  const mark = markOf(block, `${at}.`);
  if (type === 'text') checkText(block, at, mark);
  if (type === 'tool_use')
    refuseUnless(isRecord(block.input), `${at}.tool_use.input: Input should be a valid dictionary`);
  if (type === 'thinking' || type === 'redacted_thinking')
    refuseUnless(!mark, `${at}.${type}.cache_control: Extra inputs are not permitted`);
  const nested = type === 'tool_result' ? checkResult(block as Block, at) : [];
  return mark ? [...nested, mark] : nested;
};

const checkText = (block: Record<string, unknown>, at: string, mark: CacheMark | undefined) => {
  const { text } = block;
  refuseUnless(typeof text === 'string', `${at}.text.text: Input should be a valid string`);
  refuseUnless(
    text !== '' || !mark,
    `${at}.text: cache_control cannot be set for empty text blocks`,
  );
  const path = at.startsWith('messages') ? 'messages' : 'system';
  refuseUnless(text !== '', `${path}: text content blocks must be non-empty`);
  refuseUnless(text.trim() !== '', `${path}: text content blocks must contain non-whitespace text`);
};

const checkResult = (block: Block, at: string): CacheMark[] => {
  const { content } = block;
  if (content === undefined || typeof content === 'string') return [];
  if (!Array.isArray(content))
    throw invalidRequest(`${at}.tool_result.content: Input should be a valid list`);
  return content.flatMap((part: unknown, index) =>
    checkBlock(part, `${at}.tool_result.content.${index}`, 'result'),
  );
};

/** The mark of a block, a tool or a request, refused unless it has the one shape there is. */
export const markOf = (
  holder: Readonly<Record<string, unknown>>,
  at: string,
): CacheMark | undefined => {
  const mark = holder.cache_control;
  if (mark === undefined || mark === null) return undefined;
  const path = `${at}cache_control`;
  if (!isRecord(mark)) throw invalidRequest(`${path}: Input should be a valid dictionary`);
  refuseUnless(mark.type === 'ephemeral', `${path}.type: Input should be 'ephemeral'`);
  const isLifetime = mark.ttl === undefined || mark.ttl === '5m' || mark.ttl === '1h';
  refuseUnless(isLifetime, `${path}.ephemeral.ttl: Input should be '5m' or '1h'`);
  for (const key of Object.keys(mark))
    refuseUnless(
      key === 'type' || key === 'ttl',
      `${path}.ephemeral.${key}: Extra inputs are not permitted`,
    );
  return mark as unknown as CacheMark;
};
