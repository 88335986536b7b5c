/** The Messages API: the official SDK knows how it is to be asked, and our own exchange asks. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
// Without its resources, which are most of its weight: a request here is one plain post.
import { APIError, BaseAnthropic } from '@anthropic-ai/sdk';
import type { ProxyEnvironment } from '../lib/proxy.js';
import type { Clock } from '../protocol/clock.js';
import { ModelFailure, type ModelPort, type StreamEvent } from '../protocol/model/model.js';
import { BlockAssembler } from './block-assembler.js';
import { readEvents } from './event-stream.js';
import { failureOf } from './failure.js';
import { httpExchange, pageOf, type Send } from './http-exchange.js';

import { stallWatch } from './stall-watch.js';

export interface AnthropicOptions {
  readonly apiKey: string | undefined;
  readonly authToken: string | undefined;
  readonly baseUrl: string | undefined;
  readonly env: ProxyEnvironment;
  readonly clock: Clock;
  readonly streamIdleTimeoutMs: number;
}

/** What the SDK tells the server of its patience; only the stall watch ends an exchange. */
const TIMEOUT_MS = 24 * 3_600_000;

export const anthropicModel = (options: AnthropicOptions): ModelPort => {
  const senderFor = senders(options);
  return {
    async stream({ body, model, betas = [] }, sink, signal) {
      const assembler = new BlockAssembler();
      let started = false;
      let response: IncomingMessage;
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
        response = await send(body, signal);
        const { statusCode = 0, headers } = response;
        if (statusCode < 200 || statusCode > 299) throw await refusalIn(response);
        await readEvents(response, { take, failed: (data) => failureIn(data, headers) });
      } catch (error) {
        if (signal.aborted) throw aborted();
        throw failureOf(error, partial(), started);
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

/** One sender per set of beta features: where it sends and with which headers is made out once. */
const senders = (options: AnthropicOptions) => {
  const client = new BaseAnthropic({
    apiKey: options.apiKey ?? null,
    authToken: options.apiKey === undefined ? (options.authToken ?? null) : null,
    ...(options.baseUrl !== undefined && { baseURL: options.baseUrl }),
    timeout: TIMEOUT_MS,
    logLevel: 'off',
  });
  const sendTo = httpExchange({
    env: options.env,
    stallWatch: stallWatch(options.clock, options.streamIdleTimeoutMs),
  });
  const prepare = async (betas: string): Promise<Send> => {
    const { url, req } = await client.buildRequest({
      method: 'post',
      path: '/v1/messages',
      stream: true,
      headers: {
        'content-type': 'application/json',
        ...(betas !== '' && { 'anthropic-beta': betas }),
      },
    });
    return sendTo({ url: new URL(url), method: 'POST', headers: new Headers(req.headers) });
  };
  const prepared = new Map<string, Promise<Send>>();
  return (betas: readonly string[]): Promise<Send> => {
    // In one order, whatever order they were asked for in: servers may cache by the header.
    const key = [...betas].sort().join(',');
    const sender = prepared.get(key) ?? prepare(key);
    prepared.set(key, sender);
    return sender;
  };
};

const refusalIn = async (response: IncomingMessage): Promise<APIError> => {
  const page = await pageOf(response).catch(String);
  const body = jsonIn(page);
  const said = body === undefined ? page : undefined;
  return APIError.generate(response.statusCode, body, said, headersOf(response.headers));
};

const failureIn = (data: string, headers: IncomingHttpHeaders): APIError =>
  new APIError(undefined, jsonIn(data) ?? { message: data }, undefined, headersOf(headers));

const headersOf = (headers: IncomingHttpHeaders): Headers =>
  new Headers(Object.entries(headers).map(([name, value = '']) => [name, String(value)]));

const jsonIn = (text: string): object | undefined => {
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
};

const textOf = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' ? header : null;

/** A proxy or a wrong address answers with a page; an empty stream would only be tried again. */
const refuseOtherContent = (type: string): void => {
  if (!/json|html|xml|text\/plain/.test(type)) return;
  const message = `The server answered with ${type} instead of an event stream; check ANTHROPIC_BASE_URL.`;
  throw new ModelFailure('rejected', message);
};
