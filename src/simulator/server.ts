/**
 * The built-in Messages API: a real HTTP server that answers from a script and keeps prompt-cache
 * books. Runs inside a test or in a process of its own; nothing on the wire tells it from a provider.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../protocol/clock.js';
import { UsageError } from '../protocol/errors.js';
import { KNOWN_MODELS, modelFacts } from '../protocol/model/prices.js';
import { ApiError } from './api-error.js';
import { CacheBooks } from './cache-books.js';
import { DiagnosticsBook } from './diagnostics-book.js';
import { Exchange } from './exchange.js';
import { answerMessages, type Stage } from './messages-route.js';
import { playbook } from './playbook.js';
import { promptBlocks } from './prompt-blocks.js';
import { parseBody, readBody } from './read-body.js';
import { RequestLog, type RequestRecord, type Totals } from './request-log.js';
import { parseScript, type ScriptInput } from './script.js';
import { validateCounted } from './validate-request.js';

export interface SimulatorOptions {
  /** Checked again here, so that a value made by hand is as welcome as a loaded one. */
  readonly script: ScriptInput;
  /** 0, the default, takes any that is free. */
  readonly port?: number;
  readonly host?: string;
  readonly clock?: Clock;
  /** How many of the last requests are kept, with their bodies. */
  readonly keepRequests?: number;
  /** Called when a response starts, with its status. */
  onRequest?(record: RequestRecord): void;
}

export interface Simulator {
  /** What a client takes as its base URL. */
  readonly url: string;
  readonly port: number;
  /** The last ones, oldest first; `totals.requests` counts them all. */
  readonly requests: readonly RequestRecord[];
  readonly totals: Totals;
  /** Breaks the connections that are still open, also those that stall. */
  close(): Promise<void>;
}

export const startSimulator = async (options: SimulatorOptions): Promise<Simulator> => {
  const { port = 0, host = '127.0.0.1', clock = systemClock, keepRequests = 1000 } = options;
  const log = new RequestLog(keepRequests);
  const stage: Stage = {
    playbook: playbook(parseScript(options.script)),
    books: new CacheBooks(),
    diagnostics: new DiagnosticsBook(),
    clock,
  };
  const record = (entry: RequestRecord) => {
    log.add(entry);
    options.onRequest?.(entry);
  };
  let count = 0;
  const server = createServer((request, response) => {
    const exchange = new Exchange(request, response, ++count, clock, record);
    const answer = async () => {
      exchange.body = await readBody(request);
      await route(exchange, stage);
    };
    answer().catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else exchange.fail(error instanceof ApiError ? error : defect(error));
    });
  });
  // Longer than any client keeps a connection, so that none is closed under a request on its way.
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
    // A swarm connects all at once: the usual queue of 511 would make some of it wait a second.
    server.listen({ port, host, backlog: 4096 }, resolve);
  });

const route = async (exchange: Exchange, stage: Stage): Promise<void> => {
  requireHeaders(exchange);
  const { method, path } = exchange;
  const name = `${method} ${path.replace(/\/+$/, '')}`;
  if (name === 'POST /v1/messages') return answerMessages(exchange, stage);
  if (name === 'POST /v1/messages/count_tokens') return countTokens(exchange);
  if (name === 'GET /v1/models') return listModels(exchange);
  throw new ApiError(404, 'not_found_error', `Not found: ${name}`);
};

const requireHeaders = (exchange: Exchange): void => {
  const bearer = exchange.header('authorization')?.match(/^Bearer +\S/i);
  if (!exchange.header('x-api-key') && !bearer)
    throw new ApiError(401, 'authentication_error', 'x-api-key header is required');
  if (!exchange.header('anthropic-version'))
    throw new ApiError(400, 'invalid_request_error', 'anthropic-version: header is required');
};

const countTokens = (exchange: Exchange): void => {
  const blocks = promptBlocks(validateCounted(parseBody(exchange.body)));
  exchange.json(JSON.stringify({ input_tokens: blocks.at(-1)?.end ?? 0 }));
};

const listModels = (exchange: Exchange): void => {
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

/** A defect of ours, shown whole: whoever reads it wants the stack. */
const defect = (error: unknown): ApiError =>
  new ApiError(500, 'api_error', `The simulator failed: ${(error as Error).stack}`);
