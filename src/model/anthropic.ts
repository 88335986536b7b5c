/** The Messages API through the official SDK: the only door to it. */
// Without its resources, which are most of its weight: a request here is one plain post.
import { BaseAnthropic } from '@anthropic-ai/sdk';
import type { Clock } from '../protocol/clock.js';
import { ModelFailure, type ModelPort, type StreamEvent } from '../protocol/model.js';
import type { ProxyEnvironment } from '../protocol/proxy.js';
import { BlockAssembler } from './block-assembler.js';
import { failureOf } from './failure.js';
import { httpFetch } from './http-fetch.js';
import { stallWatch } from './stall-watch.js';

export interface AnthropicOptions {
  readonly apiKey: string | undefined;
  readonly authToken: string | undefined;
  readonly baseUrl: string | undefined;
  readonly env: ProxyEnvironment;
  readonly clock: Clock;
  readonly streamIdleTimeoutMs: number;
}

/** The SDK's own limit is for headers only; ours covers the whole exchange, so theirs stays out. */
const HEADER_TIMEOUT_MS = 24 * 3_600_000;

export const anthropicModel = (options: AnthropicOptions): ModelPort => {
  const client = new BaseAnthropic({
    apiKey: options.apiKey ?? null,
    authToken: options.apiKey === undefined ? (options.authToken ?? null) : null,
    ...(options.baseUrl !== undefined && { baseURL: options.baseUrl }),
    maxRetries: 0,
    timeout: HEADER_TIMEOUT_MS,
    logLevel: 'off',
    fetch: httpFetch({
      env: options.env,
      stallWatch: stallWatch(options.clock, options.streamIdleTimeoutMs),
    }),
  });
  return {
    async stream({ body, model, betas = [] }, sink, signal) {
      const assembler = new BlockAssembler();
      let started = false;
      let requestId: string | null = null;
      let contentType = '';
      const partial = () => ({
        messageId: assembler.messageId,
        usage: assembler.usage,
        unfinishedText: assembler.unfinishedText(),
      });
      const aborted = () =>
        new ModelFailure('aborted', 'The request was interrupted.', { partial: partial() });
      try {
        const { data, request_id, response } = await client
          .post<AsyncIterable<StreamEvent>>('/v1/messages', {
            body,
            headers: headersOf(betas),
            stream: true,
            signal,
          })
          .withResponse();
        requestId = request_id ?? null;
        contentType = response.headers.get('content-type') ?? '';
        for await (const event of data) {
          if (!started) {
            started = true;
            sink.started();
          }
          const ended = assembler.take(event);
          sink.event?.(event);
          if (ended !== undefined) sink.blockEnded(ended);
        }
      } catch (error) {
        if (signal.aborted) throw aborted();
        throw failureOf(error, partial(), started);
      }
      if (signal.aborted) throw aborted();
      if (!started) refuseOtherContent(contentType);
      if (!assembler.complete || assembler.stopReason === null) {
        const message = 'The model ended its answer in the middle of a message.';
        throw new ModelFailure('dropped', message, { partial: partial() });
      }
      return {
        messageId: assembler.messageId ?? '',
        requestId,
        stopReason: assembler.stopReason,
        usage: assembler.usage,
        model: assembler.model ?? model,
        diagnosis: assembler.diagnosis,
      };
    },
  };
};

/** In one order, whatever order they were asked for in: servers may cache by the header. */
const headersOf = (betas: readonly string[]) => ({
  'content-type': 'application/json',
  ...(betas.length > 0 && { 'anthropic-beta': [...betas].sort().join(',') }),
});

/** A proxy or a wrong address answers with a page; an empty stream would only be tried again. */
const refuseOtherContent = (type: string): void => {
  if (!/json|html|xml|text\/plain/.test(type)) return;
  const message = `The server answered with ${type} instead of an event stream; check ANTHROPIC_BASE_URL.`;
  throw new ModelFailure('rejected', message);
};
