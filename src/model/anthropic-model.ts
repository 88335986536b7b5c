/** Model port of the Messages API: requests have the headers of the official SDK, `httpExchange` sends them. */

import type { IncomingMessage } from 'node:http';
import type { ProxyEnvironment } from '../lib/proxy-for.js';
import type { Clock } from '../protocol/clock.js';
import { ModelFailure, type ModelPort, type StreamEvent } from '../protocol/model/model-port.js';
import { AnswerError } from './answer-error.js';
import { BlockAssembler } from './block-assembler.js';
import { readEvents } from './event-stream.js';
import { httpExchange, readErrorPage, type Send } from './http-exchange.js';
import { requestHeaders } from './request-headers.js';
import { stallWatch } from './stall-watch.js';
import { toModelFailure } from './to-model-failure.js';

interface AnthropicOptions {
  readonly apiKey: string | undefined;
  readonly authToken: string | undefined;
  readonly baseUrl: string | undefined;
  readonly env: ProxyEnvironment;
  readonly clock: Clock;
  readonly streamIdleTimeoutMs: number;
}

const DEFAULT_URL = 'https://api.anthropic.com';
const PATH = '/v1/messages';

/** Returns the model port. It rejects with ModelFailure and never retries. */
export const anthropicModel = (options: AnthropicOptions): ModelPort => {
  const senderFor = senders(options);
  return {
    async stream({ body, model, betas = [] }, sink, signal) {
      const assembler = new BlockAssembler();
      let started = false;
      let response: IncomingMessage;
      /** Received parts of the event stream; undefined before it starts. */
      let contentCount: number | undefined;
      const partial = () => ({
        messageId: assembler.messageId,
        usage: assembler.usage,
        unfinishedText: assembler.unfinishedText(),
      });
      const aborted = () =>
        new ModelFailure('aborted', 'The request was interrupted.', { partial: partial() });
      const take = (event: StreamEvent) => {
        if (!started) {
          started = true;
          sink.started();
        }
        const ended = assembler.take(event);
        sink.event?.(event);
        if (ended !== undefined) sink.blockEnded(ended);
      };
      try {
        const send = await senderFor(betas);
        response = await send(body, signal, () => contentCount);
        const { statusCode = 0, headers } = response;
        if (statusCode < 200 || statusCode > 299) throw await errorOfResponse(response);
        let received = 0;
        contentCount = received;
        await readEvents(response, {
          take,
          failed: (data) => new AnswerError(undefined, data, headers),
          onContent: () => {
            received += 1;
            contentCount = received;
          },
        });
      } catch (error) {
        if (signal.aborted) throw aborted();
        throw toModelFailure(error, partial(), started);
      }
      if (signal.aborted) throw aborted();
      if (!started) refuseOtherContent(response.headers['content-type'] ?? '');
      if (!assembler.complete || assembler.stopReason === null) {
        const message = 'The model ended its answer in the middle of a message.';
        throw new ModelFailure('dropped', message, { partial: partial() });
      }
      return {
        messageId: assembler.messageId ?? '',
        requestId: textOf(response.headers['request-id']),
        stopReason: assembler.stopReason,
        usage: assembler.usage,
        model: assembler.model ?? model,
        diagnosis: assembler.diagnosis,
      };
    },
  };
};

/** Returns a sender per set of beta features. Its URL and headers are computed once. */
const senders = (options: AnthropicOptions) => {
  const sendTo = httpExchange({
    env: options.env,
    stallWatch: stallWatch(options.clock, options.streamIdleTimeoutMs),
  });
  const { apiKey, authToken, baseUrl = DEFAULT_URL } = options;
  const prepare = async (betas: string): Promise<Send> => {
    const customHeaders = options.env.ANTHROPIC_CUSTOM_HEADERS;
    const request = { apiKey, authToken, customHeaders, betas };
    const headers = requestHeaders(request);
    if (headers === undefined || /[?#]/.test(baseUrl)) {
      const { sdkRequest } = await import('./sdk-request.js');
      const { url, headers } = await sdkRequest({ ...request, baseUrl });
      return sendTo({ url: new URL(url), method: 'POST', headers });
    }
    const url = new URL(`${baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : baseUrl}${PATH}`);
    return sendTo({ url, method: 'POST', headers });
  };
  const prepared = new Map<string, Promise<Send>>();
  return (betas: readonly string[]): Promise<Send> => {
    // Betas are sorted, because servers may cache by the header.
    const key = [...betas].sort().join(',');
    const sender = prepared.get(key) ?? prepare(key);
    prepared.set(key, sender);
    return sender;
  };
};

const errorOfResponse = async (response: IncomingMessage): Promise<AnswerError> => {
  const page = await readErrorPage(response).catch(String);
  return new AnswerError(response.statusCode, page, response.headers);
};

const textOf = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' ? header : null;

/**
 * Throws a ModelFailure of kind `rejected` if the content type is that of a page. A proxy or a wrong address
 * answers with a page, and an empty stream would be retried in vain.
 */
const refuseOtherContent = (type: string): void => {
  if (!/json|html|xml|text\/plain/.test(type)) return;
  const message = `The server answered with ${type} instead of an event stream; check ANTHROPIC_BASE_URL.`;
  throw new ModelFailure('rejected', message);
};
