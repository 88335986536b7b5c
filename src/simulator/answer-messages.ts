/**
 * Answers POST /v1/messages: validates, finds the scripted reply, updates the prompt cache, sends.
 */
import type { Clock } from '../protocol/clock.js';
import { modelFacts } from '../protocol/model/model-facts.js';
import { ApiError, errorTypeOf, invalidRequest } from './api-error.js';
import type { CacheDiagnostics } from './cache-diagnostics.js';
import type { CompiledScript } from './compiled-script.js';
import { type ComposedContent, composeReply, shortId } from './compose-reply.js';
import type { HttpExchange } from './http-exchange.js';
import type { MessagesRequest } from './messages-request.js';
import { type PrefixBlock, prefixBlocks } from './prefix-blocks.js';
import type { CacheAccess, PromptCache } from './prompt-cache.js';
import { parseBody } from './read-body.js';
import { type RequestFacts, requestFacts } from './request-facts.js';
import { messageFrames, type ResponseMessage, wholeMessage } from './response-message.js';
import type { Reply } from './script.js';
import { delayUnlessClosed, sendStream, sendWhole } from './send-stream.js';
import { checkThinkingSignatures, thinkingSignature } from './thinking-signature.js';
import { validateRequest } from './validate-request.js';

export interface SimulatorState {
  readonly script: CompiledScript;
  readonly cache: PromptCache;
  readonly diagnostics: CacheDiagnostics;
  readonly clock: Clock;
}

const UNKNOWN_MODEL_WINDOW = 200_000;

export const answerMessages = async (
  exchange: HttpExchange,
  state: SimulatorState,
): Promise<void> => {
  const { cache, diagnostics, clock } = state;
  const request = validateRequest(parseBody(exchange.body));
  checkThinkingSignatures(request);
  const blocks = prefixBlocks(request, exchange.header('anthropic-beta'));
  refuseTooLong(request.model, blocks);
  const facts = requestFacts(request);
  const reply = replyFor(request, facts, state.script);
  // A request that gets an error does not touch the cache.
  const access = reply.error ? undefined : cache.access(request.model, blocks, clock.now());
  if (reply.delayMs && !(await delayUnlessClosed(clock, exchange.response, reply.delayMs))) return;
  if (!access) throw scriptedError(reply);
  const digest = blocks.at(-1)?.digest ?? '';
  const id = `msg_01${shortId(digest)}`;
  const message: ResponseMessage = {
    ...(request.max_tokens === 0
      ? EMPTY_CONTENT
      : composeReply(reply, facts, digest, () => thinkingSignature(request))),
    id,
    model: request.model,
    stopSequence: reply.stop_sequence ?? null,
    usage: access.usage,
    diagnostics: diagnostics.diagnose(request, blocks, access.usage.cache_read_input_tokens),
  };
  diagnostics.remember(id, request, blocks);
  access.publish(clock.now());
  const measured = { model: request.model, usage: usageOf(access, message) };
  if (!request.stream) {
    exchange.start(200, 'application/json', reply.headers, measured);
    return sendWhole(exchange.response, wholeMessage(message), reply);
  }
  const headers = { 'cache-control': 'no-cache', ...reply.headers };
  exchange.start(200, 'text/event-stream; charset=utf-8', headers, measured);
  await sendStream(exchange.response, messageFrames(message, reply.chunkBytes), reply, clock);
};

/**
 * Returns the scripted reply. A request with `max_tokens: 0`, which only warms the cache, needs no rule and
 * consumes a reply only if the reply is an error.
 */
const replyFor = (request: MessagesRequest, facts: RequestFacts, script: CompiledScript): Reply => {
  if (request.max_tokens > 0) return script.nextReply(facts);
  const next = script.peekReply(facts);
  return next?.error ? script.nextReply(facts) : { delayMs: next?.delayMs };
};

const EMPTY_CONTENT: ComposedContent = {
  content: [],
  stopReason: 'max_tokens',
  outputTokens: 0,
  webSearches: 0,
};

const refuseTooLong = (model: string, blocks: readonly PrefixBlock[]): void => {
  const window = modelFacts(model)?.contextWindow ?? UNKNOWN_MODEL_WINDOW;
  const tokens = blocks.at(-1)?.end ?? 0;
  if (tokens > window)
    throw invalidRequest(`prompt is too long: ${tokens} tokens > ${window} maximum`);
};

const scriptedError = ({ error, headers = {} }: Reply): ApiError => {
  const { status = 500, retryAfter } = error ?? {};
  const type = error?.type ?? errorTypeOf(status);
  const message = error?.message ?? type.replace(/_error$/, '').replaceAll('_', ' ');
  const wait = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return new ApiError(status, type, message, { ...wait, ...headers, ...error?.headers });
};

const usageOf = ({ usage }: CacheAccess, { outputTokens, webSearches }: ResponseMessage) => ({
  input: usage.input_tokens,
  output: outputTokens,
  cacheRead: usage.cache_read_input_tokens,
  cacheWrite5m: usage.cache_creation.ephemeral_5m_input_tokens,
  cacheWrite1h: usage.cache_creation.ephemeral_1h_input_tokens,
  ...(webSearches > 0 && { webSearches }),
});
