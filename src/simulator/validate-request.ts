/**
 * Validates requests as the Messages API does, with its error texts and field paths, so that
 * mistakes of a client fail in tests. Throws ApiError.
 */
import { isRecord } from '../lib/json/is-record.js';
import { modelFacts } from '../protocol/model/model-facts.js';
import { invalidRequest } from './api-error.js';
import type { CacheControl, MessagesRequest } from './messages-request.js';
import { cacheControlOf, refuseUnless, validateBlock } from './validate-block.js';
import { validateConversation } from './validate-conversation.js';

const COUNTED_FIELDS = [
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'context_management',
  'cache_control',
  'mcp_servers',
  'speed',
  'user_profile_id',
  'workspace_id',
];
const FIELDS = new Set([
  ...COUNTED_FIELDS,
  'max_tokens',
  'stream',
  'metadata',
  'stop_sequences',
  'temperature',
  'top_k',
  'top_p',
  'service_tier',
  'container',
  'diagnostics',
  'inference_geo',
  'compaction',
]);

/** Validates the body of POST /v1/messages. */
export const validateRequest = (body: unknown): MessagesRequest => {
  const request = validatePrompt(body, FIELDS);
  const { max_tokens, stream, model } = request;
  refuseUnless(max_tokens !== undefined, 'max_tokens: Field required');
  const isCount = Number.isInteger(max_tokens) && max_tokens >= 0;
  refuseUnless(isCount, 'max_tokens: Input should be greater than or equal to 0');
  refuseUnless(
    stream === undefined || typeof stream === 'boolean',
    'stream: Input should be a valid boolean',
  );
  checkDiagnostics(request.diagnostics);
  const maxOutput = modelFacts(model)?.maxOutput;
  if (maxOutput !== undefined && max_tokens > maxOutput)
    throw invalidRequest(
      `max_tokens: ${max_tokens} > ${maxOutput}, which is the maximum allowed number of output tokens for ${model}`,
    );
  return request;
};

const checkDiagnostics = (diagnostics: unknown): void => {
  if (diagnostics === undefined || diagnostics === null) return;
  if (!isRecord(diagnostics))
    throw invalidRequest('diagnostics: Input should be a valid dictionary');
  for (const field of Object.keys(diagnostics))
    refuseUnless(
      field === 'previous_message_id',
      `diagnostics.${field}: Extra inputs are not permitted`,
    );
  const { previous_message_id: id } = diagnostics;
  const isId = id === undefined || id === null || typeof id === 'string';
  refuseUnless(isId, 'diagnostics.previous_message_id: Input should be a valid string');
};

/** Validates the body of POST /v1/messages/count_tokens. */
export const validateCountRequest = (body: unknown): MessagesRequest =>
  validatePrompt(body, new Set(COUNTED_FIELDS));

const validatePrompt = (body: unknown, fields: ReadonlySet<string>): MessagesRequest => {
  if (!isRecord(body)) throw invalidRequest('Input should be a valid dictionary');
  for (const field of Object.keys(body))
    refuseUnless(fields.has(field), `${field}: Extra inputs are not permitted`);
  refuseUnless(body.model !== undefined, 'model: Field required');
  refuseUnless(typeof body.model === 'string', 'model: Input should be a valid string');
  refuseUnless(body.messages !== undefined, 'messages: Field required');
  const breakpoints = [...checkTools(body.tools), ...checkSystem(body.system)];
  breakpoints.push(...validateConversation(body.messages));
  const automatic = cacheControlOf(body, '');
  if (automatic) breakpoints.push(automatic);
  checkBreakpoints(breakpoints);
  return body as MessagesRequest;
};

const checkTools = (tools: unknown): CacheControl[] => {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) throw invalidRequest('tools: Input should be a valid list');
  const names = new Set<string>();
  return tools.flatMap((tool: unknown, index) => {
    const at = `tools.${index}`;
    if (!isRecord(tool)) throw invalidRequest(`${at}: Input should be a valid dictionary`);
    const isCustom = tool.type === undefined || tool.type === 'custom';
    if (isCustom) checkCustomTool(tool, `${at}.custom`);
    else checkServerTool(tool, at);
    if (typeof tool.name === 'string') {
      refuseUnless(!names.has(tool.name), 'tools: Tool names must be unique.');
      names.add(tool.name);
    }
    return cacheControlOf(tool, at) ?? [];
  });
};

const checkCustomTool = (tool: Record<string, unknown>, at: string): void => {
  refuseUnless(tool.name !== undefined, `${at}.name: Field required`);
  const pattern = '^[a-zA-Z0-9_-]{1,128}$';
  const isName = typeof tool.name === 'string' && new RegExp(pattern).test(tool.name);
  refuseUnless(isName, `${at}.name: String should match pattern '${pattern}'`);
  refuseUnless(tool.input_schema !== undefined, `${at}.input_schema: Field required`);
  const schema = tool.input_schema;
  const isObject = isRecord(schema) && schema.type === 'object';
  refuseUnless(isObject, `${at}.input_schema.type: Input should be 'object'`);
};

/** Types of the tools that the API defines, with the date of their version. */
const SERVER_TOOL =
  /^(?:web_search|web_fetch|code_execution|bash|text_editor|computer|memory|tool_search_tool_(?:regex|bm25)|mcp_toolset|browser)(?:_\d{8})?$/;

const checkServerTool = (tool: Record<string, unknown>, at: string): void => {
  const { type, name, allowed_domains, blocked_domains } = tool;
  const isKnown = typeof type === 'string' && SERVER_TOOL.test(type);
  if (!isKnown)
    throw invalidRequest(
      `${at}: Input tag '${String(type)}' found using 'type' does not match any of the expected tags`,
    );
  if (!type.startsWith('web_search')) return;
  refuseUnless(name === 'web_search', `${at}.${type}.name: Input should be 'web_search'`);
  refuseUnless(
    !(allowed_domains && blocked_domains),
    `${at}.${type}: only one of allowed_domains or blocked_domains may be given`,
  );
};

const checkSystem = (system: unknown): CacheControl[] => {
  if (system === undefined || typeof system === 'string') return [];
  if (!Array.isArray(system)) throw invalidRequest('system: Input should be a valid list');
  return system.flatMap((block: unknown, index) => {
    const at = `system.${index}`;
    const isText = isRecord(block) && block.type === 'text';
    refuseUnless(isText, `${at}.type: Input should be 'text'`);
    return validateBlock(block, at, 'system');
  });
};

const checkBreakpoints = (breakpoints: readonly CacheControl[]): void => {
  if (breakpoints.length > 4)
    throw invalidRequest(
      `A maximum of 4 blocks with cache_control may be provided. Found ${breakpoints.length}.`,
    );
  const firstShort = breakpoints.findIndex(({ ttl }) => ttl !== '1h');
  const isOrdered =
    firstShort < 0 || breakpoints.slice(firstShort).every(({ ttl }) => ttl !== '1h');
  refuseUnless(
    isOrdered,
    "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
  );
};
