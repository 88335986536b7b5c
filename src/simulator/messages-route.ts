/** POST /v1/messages: validate, find the scripted reply, book the cache, deliver. */
import type { Clock } from '../protocol/clock.js';
import { modelFacts } from '../protocol/model/prices.js';
import { ApiError, errorTypeOf, invalidRequest } from './api-error.js';
import { bindingOf, checkThoughts } from './bound-thoughts.js';
import type { Booking, CacheBooks } from './cache-books.js';
import { type Composed, compose, shortId } from './compose.js';
import { pause, sendWhole, stream } from './delivery.js';
import type { DiagnosticsBook } from './diagnostics-book.js';
import type { Exchange } from './exchange.js';
import { type Message, messageFrames, wholeMessage } from './message.js';
import type { MessagesRequest } from './messages-request.js';
import type { Playbook } from './playbook.js';
import { type PromptBlock, promptBlocks } from './prompt-blocks.js';
import { parseBody } from './read-body.js';
import { type RequestFacts, requestFacts } from './request-facts.js';
import type { Reply } from './script.js';
import { validateMessages } from './validate-request.js';

export interface Stage {
  readonly playbook: Playbook;
  readonly books: CacheBooks;
  readonly diagnostics: DiagnosticsBook;
  readonly clock: Clock;
}

const UNKNOWN_MODEL_WINDOW = 200_000;

export const answerMessages = async (exchange: Exchange, stage: Stage): Promise<void> => {
  const { books, diagnostics, clock } = stage;
  const request = validateMessages(parseBody(exchange.body));
  checkThoughts(request);
  const blocks = promptBlocks(request, exchange.header('anthropic-beta'));
  refuseTooLong(request.model, blocks);
  const facts = requestFacts(request);
  const reply = replyTo(request, facts, stage.playbook);
  // A request that is refused was never read, so it is not booked.
  const booking = reply.error ? undefined : books.book(request.model, blocks, clock.now());
  if (reply.delayMs && !(await pause(clock, exchange.response, reply.delayMs))) return;
  if (!booking) throw scriptedError(reply);
  const digest = blocks.at(-1)?.digest ?? '';
  const id = `msg_01${shortId(digest)}`;
  const message: Message = {
    ...(request.max_tokens === 0
      ? WARMED
      : compose(reply, facts, digest, () => bindingOf(request))),
    id,
    model: request.model,
    stopSequence: reply.stop_sequence ?? null,
    usage: booking.usage,
    diagnostics: diagnostics.diagnose(request, blocks, booking.usage.cache_read_input_tokens),
  };
  diagnostics.keep(id, request, blocks);
  booking.begin(clock.now());
  const spent = { model: request.model, usage: usageOf(booking, message) };
  if (!request.stream) {
    exchange.start(200, 'application/json', reply.headers, spent);
    return sendWhole(exchange.response, wholeMessage(message), reply);
  }
  const headers = { 'cache-control': 'no-cache', ...reply.headers };
  exchange.start(200, 'text/event-stream; charset=utf-8', headers, spent);
  await stream(exchange.response, messageFrames(message, reply.chunkBytes), reply, clock);
};

/** A prompt that only warms the cache needs no rule, and uses up no reply but an error. */
const replyTo = (request: MessagesRequest, facts: RequestFacts, playbook: Playbook): Reply => {
  if (request.max_tokens > 0) return playbook.reply(facts);
  const next = playbook.peek(facts);
  return next?.error ? playbook.reply(facts) : { delayMs: next?.delayMs };
};

const WARMED: Composed = {
  content: [],
  stopReason: 'max_tokens',
  outputTokens: 0,
  webSearches: 0,
};

const refuseTooLong = (model: string, blocks: readonly PromptBlock[]): void => {
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

const usageOf = ({ usage }: Booking, { outputTokens, webSearches }: Message) => ({
  input: usage.input_tokens,
  output: outputTokens,
  cacheRead: usage.cache_read_input_tokens,
  cacheWrite5m: usage.cache_creation.ephemeral_5m_input_tokens,
  cacheWrite1h: usage.cache_creation.ephemeral_1h_input_tokens,
  ...(webSearches > 0 && { webSearches }),
});
