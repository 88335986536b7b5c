/** Converts an error of the SDK or the network to a ModelFailure whose message says what to do. */
import { type FailureKind, ModelFailure, type PartialTurn } from '../protocol/model/model-port.js';
import { networkProblem } from './network-problem.js';
import { StalledError } from './stall-watch.js';

/** Fields shared by the errors of the SDK, so that its classes need not be imported. */
interface ApiErrorShape {
  readonly status?: number;
  readonly type?: string | null;
  readonly message: string;
  readonly headers?: { get(name: string): string | null };
  readonly error?: unknown;
  readonly cause?: unknown;
}

export const toModelFailure = (
  thrown: unknown,
  partial: PartialTurn,
  hasStarted: boolean,
): ModelFailure => {
  if (thrown instanceof ModelFailure) return thrown;
  const error = (thrown ?? {}) as ApiErrorShape;
  const stall = causeChain(thrown).find((cause) => cause instanceof StalledError);
  if (stall instanceof StalledError) {
    return new ModelFailure('stalled', stall.message, { partial, cause: thrown });
  }
  if (typeof error.status === 'number' || typeof error.type === 'string') {
    const quote = serverMessage(error);
    const kind = kindOf(error.status, error.type ?? '', quote);
    return new ModelFailure(kind, sentence(kind, error.status, quote), {
      status: error.status,
      retryAfterMs: retryAfter(error.headers),
      partial,
      cause: thrown,
    });
  }
  const kind = hasStarted ? 'dropped' : 'unreachable';
  const [root] = causeChain(thrown).reverse();
  const reason = oneSentence(root instanceof Error ? messageOf(root) : String(thrown));
  const problem = describeProblem(root, hasStarted);
  if (hasStarted) {
    return new ModelFailure(kind, `${problem}: ${reason}.`, { partial, cause: thrown });
  }
  const { advice, isPermanent } = networkProblem(root);
  return new ModelFailure(kind, `${problem}: ${reason}. ${advice}`, {
    partial,
    isPermanent,
    cause: thrown,
  });
};

/** Returns the message. The message of an AggregateError is in the errors of the addresses. */
const messageOf = (error: Error): string =>
  error instanceof AggregateError && error.message === ''
    ? error.errors.map((part) => (part instanceof Error ? part.message : String(part))).join(', ')
    : error.message;

/** Removes line breaks and the punctuation at the end. A message of OpenSSL has both. */
const oneSentence = (message: string): string =>
  message.replaceAll(/\s+/g, ' ').replace(/[\s:;,.]+$/, '');

const describeProblem = (root: unknown, hasStarted: boolean): string => {
  if (root instanceof SyntaxError || root instanceof TypeError) {
    return 'The answer of the model could not be understood';
  }
  return hasStarted ? 'The connection to the model was cut' : 'The model could not be reached';
};

const kindOf = (status: number | undefined, type: string, quote: string): FailureKind => {
  if (status === 413 || type === 'request_too_large' || isTooLong(quote)) return 'prompt-too-long';
  if (status === 429 || type === 'rate_limit_error') return 'rate-limited';
  if (status === 529 || type === 'overloaded_error') return 'overloaded';
  if (status === 401 || status === 403) return 'unauthorised';
  if (status === 408 || status === 409 || (status ?? 0) >= 500) return 'server';
  if (type === 'api_error' || type === 'timeout_error') return 'server';
  return status === undefined ? 'dropped' : 'rejected';
};

const isTooLong = (quote: string): boolean =>
  /prompt is too long|exceeds? the (maximum )?context (window|length)|input length and `?max_tokens/i.test(
    quote,
  );

/**
 * Returns by how many tokens a prompt exceeds the window, from an error message such as
 * `213423 tokens > 200000 maximum` or `190000 + 32000 > 200000`. Returns null if the message has no such figures.
 */
export const parseTokenOverrun = (message: string): number | null => {
  const [, tokens, more = 0, limit] =
    /(\d+)(?: \+ (\d+))?(?: tokens?)? > (\d+)/.exec(message) ?? [];
  const overrun = Number(tokens) + Number(more) - Number(limit);
  return Number.isFinite(overrun) && overrun > 0 ? overrun : null;
};

const serverMessage = (error: ApiErrorShape): string => {
  const inner = (error.error as { error?: { message?: unknown } } | undefined)?.error?.message;
  return (typeof inner === 'string' ? inner : error.message).slice(0, MAX_QUOTE_LENGTH);
};

/** Maximum characters quoted from the server. Error pages can be huge. */
const MAX_QUOTE_LENGTH = 500;

const sentence = (kind: FailureKind, status: number | undefined, quote: string): string => {
  const code = status === undefined ? '' : ` (HTTP ${status})`;
  if (kind === 'unauthorised') {
    return `The model API refused the credentials${code}: ${withFullStop(quote)} Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.`;
  }
  return `The model API answered with an error${code}: ${withFullStop(quote)}`;
};

/** Adds a full stop if the server's message has none, because another sentence may follow. */
const withFullStop = (quote: string): string =>
  /[.!?…]$/.test(quote.trim()) ? quote.trim() : `${quote.trim()}.`;

const retryAfter = (headers: ApiErrorShape['headers']): number | undefined => {
  const ms = Number(headers?.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const value = headers?.get('retry-after');
  if (value === null || value === undefined || value === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
};

const causeChain = (error: unknown): unknown[] => {
  const chain: unknown[] = [];
  for (let cause = error; cause instanceof Error && chain.length < 10; cause = cause.cause) {
    chain.push(cause);
  }
  return chain;
};
