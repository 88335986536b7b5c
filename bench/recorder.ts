/**
 * Recorder: a proxy before the simulator that keeps all request bodies, and the times at which requests arrive and
 * answers end. Rows that compare whole runs do without it, because it costs time.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Exchange {
  /** Milliseconds, as in `performance.now()`. */
  readonly arrivedAt: number;
  readonly answeredAt: number;
}

export interface Recorder {
  readonly url: string;
  readonly bodies: readonly Buffer[];
  /** Answered requests in the order of their answers. */
  readonly exchanges: readonly Exchange[];
  close(): void;
}

export const startRecorder = async (target: string): Promise<Recorder> => {
  const bodies: Buffer[] = [];
  const exchanges: Exchange[] = [];
  const forward = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const arrivedAt = performance.now();
    const body = await buffer(request);
    bodies.push(body);
    const { method, headers } = request;
    const upstream = http.request(new URL(request.url ?? '/', target), { method, headers });
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('end', () => exchanges.push({ arrivedAt, answeredAt: performance.now() }));
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    upstream.end(body);
  };
  const server = http.createServer((request, response) => {
    forward(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    exchanges,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
};
