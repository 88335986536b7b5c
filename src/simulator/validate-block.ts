/** Validates a content block of a request by the rules of the Messages API. */
import { isRecord } from '../lib/json/is-record.js';
import { invalidRequest } from './api-error.js';
import type { Block, CacheControl } from './messages-request.js';

/** Throws ApiError 400 with the message unless the condition holds. */
export function refuseUnless(isValid: boolean, message: string): asserts isValid {
  if (!isValid) throw invalidRequest(message);
}

type BlockParent = 'user' | 'assistant' | 'system' | 'result';

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
const TYPES: Readonly<Record<BlockParent, readonly string[]>> = {
  user: USER,
  assistant: ASSISTANT,
  system: ['text'],
  result: ['text', 'image', 'document', 'search_result', 'tool_reference'],
};

/** Required fields per block type. */
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

/** Returns the cache breakpoints of the block and its parts. Throws ApiError with the text of the API. */
export const validateBlock = (block: unknown, at: string, parent: BlockParent): CacheControl[] => {
  if (!isRecord(block)) throw invalidRequest(`${at}: Input should be a valid dictionary`);
  const { type } = block;
  refuseUnless(typeof type === 'string', `${at}.type: Field required`);
  const allowed = TYPES[parent];
  if (!allowed.includes(type))
    throw invalidRequest(
      `${at}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${allowed.map((tag) => `'${tag}'`).join(', ')}`,
    );
  for (const field of REQUIRED[type] ?? [])
    refuseUnless(block[field] !== undefined, `${at}.${type}.${field}: Field required`);
  const cacheControl = cacheControlOf(block, `${at}.`);
  if (type === 'text') checkText(block, at, cacheControl);
  if (type === 'tool_use')
    refuseUnless(isRecord(block.input), `${at}.tool_use.input: Input should be a valid dictionary`);
  if (type === 'thinking' || type === 'redacted_thinking')
    refuseUnless(!cacheControl, `${at}.${type}.cache_control: Extra inputs are not permitted`);
  const nested = type === 'tool_result' ? checkResult(block as Block, at) : [];
  return cacheControl ? [...nested, cacheControl] : nested;
};

const checkText = (
  block: Record<string, unknown>,
  at: string,
  cacheControl: CacheControl | undefined,
) => {
  const { text } = block;
  refuseUnless(typeof text === 'string', `${at}.text.text: Input should be a valid string`);
  refuseUnless(
    text !== '' || !cacheControl,
    `${at}.text: cache_control cannot be set for empty text blocks`,
  );
  const path = at.startsWith('messages') ? 'messages' : 'system';
  refuseUnless(text !== '', `${path}: text content blocks must be non-empty`);
  refuseUnless(text.trim() !== '', `${path}: text content blocks must contain non-whitespace text`);
};

const checkResult = (block: Block, at: string): CacheControl[] => {
  const { content } = block;
  if (content === undefined || typeof content === 'string') return [];
  if (!Array.isArray(content))
    throw invalidRequest(`${at}.tool_result.content: Input should be a valid list`);
  return content.flatMap((part: unknown, index) =>
    validateBlock(part, `${at}.tool_result.content.${index}`, 'result'),
  );
};

/** Returns the `cache_control` of a block, a tool or a request. Throws ApiError if it is malformed. */
export const cacheControlOf = (
  holder: Readonly<Record<string, unknown>>,
  at: string,
): CacheControl | undefined => {
  const cacheControl = holder.cache_control;
  if (cacheControl === undefined || cacheControl === null) return undefined;
  const path = `${at}cache_control`;
  if (!isRecord(cacheControl)) throw invalidRequest(`${path}: Input should be a valid dictionary`);
  refuseUnless(cacheControl.type === 'ephemeral', `${path}.type: Input should be 'ephemeral'`);
  const isLifetime =
    cacheControl.ttl === undefined || cacheControl.ttl === '5m' || cacheControl.ttl === '1h';
  refuseUnless(isLifetime, `${path}.ephemeral.ttl: Input should be '5m' or '1h'`);
  for (const key of Object.keys(cacheControl))
    refuseUnless(
      key === 'type' || key === 'ttl',
      `${path}.ephemeral.${key}: Extra inputs are not permitted`,
    );
  return cacheControl as unknown as CacheControl;
};
