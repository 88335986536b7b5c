/**
 * Starts the built-in Messages API: an HTTP server that answers from a script and simulates the
 * prompt cache. It runs inside a test or in its own process. Its wire format is that of a provider.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../protocol/clock.js';
import { KNOWN_MODELS, modelFacts } from '../protocol/model/model-facts.js';
import { UsageError } from '../protocol/skein-error.js';
import { answerMessages, type SimulatorState } from './answer-messages.js';
import { ApiError } from './api-error.js';
import { CacheDiagnostics } from './cache-diagnostics.js';
import { compileScript } from './compiled-script.js';
import { HttpExchange } from './http-exchange.js';
import { prefixBlocks } from './prefix-blocks.js';
import { PromptCache } from './prompt-cache.js';
import { parseBody, readBody } from './read-body.js';
import { RequestLog, type RequestRecord, type RequestTotals } from './request-log.js';
import { parseScript, type ScriptInput } from './script.js';
import { validateCountRequest } from './validate-request.js';

export interface SimulatorOptions {
  /** Script, loaded or written by hand. It is validated again. */
  readonly script: ScriptInput;
  /** Port to listen on. Default: 0, which picks a free port. */
  readonly port?: number;
  readonly host?: string;
  readonly clock?: Clock;
  /** Maximum number of requests kept with their bodies. Default: 1000. */
  readonly keepRequests?: number;
  /** Called when a response starts. */
  onRequest?(record: RequestRecord): void;
}

export interface Simulator {
  /** Base URL for clients. */
  readonly url: string;
  readonly port: number;
  /** Kept requests, oldest first. `totals.requests` counts all requests. */
  readonly requests: readonly RequestRecord[];
  readonly totals: RequestTotals;
  /** Stops the server and breaks all open connections. */
  close(): Promise<void>;
}

/** Rejects with UsageError if the script is invalid or the port cannot be used. */
export const startSimulator = async (options: SimulatorOptions): Promise<Simulator> => {
  const { port = 0, host = '127.0.0.1', clock = systemClock, keepRequests = 1000 } = options;
  const log = new RequestLog(keepRequests);
  const state: SimulatorState = {
    script: compileScript(parseScript(options.script)),
    cache: new PromptCache(),
    diagnostics: new CacheDiagnostics(),
    clock,
  };
  const record = (entry: RequestRecord) => {
    log.add(entry);
    options.onRequest?.(entry);
  };
  let count = 0;
  const server = createServer((request, response) => {
    const exchange = new HttpExchange(request, response, ++count, clock, record);
    const answer = async () => {
      exchange.body = await readBody(request);
      await route(exchange, state);
    };
    answer().catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else exchange.fail(error instanceof ApiError ? error : internalError(error));
    });
  });
  // Longer than clients keep idle connections, so that the server never closes a connection in use.
  server.keepAliveTimeout = 120_000;
  await listen(server, port, host);
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    port: address.port,
    get requests() {
      return log.kept;
    },
    get totals() {
      return log.totals;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const sentence = `The simulator cannot listen on ${host}:${port}: ${cause.message}.`;
      reject(new UsageError(sentence, { cause }));
    });
    // A swarm opens all its connections at once. With the default backlog of 511 some would wait a second.
    server.listen({ port, host, backlog: 4096 }, resolve);
  });

const route = async (exchange: HttpExchange, state: SimulatorState): Promise<void> => {
  requireHeaders(exchange);
  const { method, path } = exchange;
  const name = `${method} ${path.replace(/\/+$/, '')}`;
  if (name === 'POST /v1/messages') return answerMessages(exchange, state);
  if (name === 'POST /v1/messages/count_tokens') return countTokens(exchange);
  if (name === 'GET /v1/models') return listModels(exchange);
  throw new ApiError(404, 'not_found_error', `Not found: ${name}`);
};

const requireHeaders = (exchange: HttpExchange): void => {
  const bearer = exchange.header('authorization')?.match(/^Bearer +\S/i);
  if (!exchange.header('x-api-key') && !bearer)
    throw new ApiError(401, 'authentication_error', 'x-api-key header is required');
  if (!exchange.header('anthropic-version'))
    throw new ApiError(400, 'invalid_request_error', 'anthropic-version: header is required');
};

const countTokens = (exchange: HttpExchange): void => {
  const blocks = prefixBlocks(validateCountRequest(parseBody(exchange.body)));
  exchange.json(JSON.stringify({ input_tokens: blocks.at(-1)?.end ?? 0 }));
};

const listModels = (exchange: HttpExchange): void => {
  const data = KNOWN_MODELS.map((id) => ({
    type: 'model',
    id,
    display_name: id,
    created_at: '1970-01-01T00:00:00Z',
    max_input_tokens: modelFacts(id)?.contextWindow,
    max_tokens: modelFacts(id)?.maxOutput,
  }));
  exchange.json(JSON.stringify({ data, has_more: false, first_id: null, last_id: null }));
};

/** Returns ApiError 500 with the stack, because the error is a defect of the simulator. */
const internalError = (error: unknown): ApiError =>
  new ApiError(500, 'api_error', `The simulator failed: ${(error as Error).stack}`);
