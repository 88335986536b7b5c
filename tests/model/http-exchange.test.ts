import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { httpExchange, readErrorPage } from '../../src/model/http-exchange.js';
import { StalledError, stallWatch } from '../../src/model/stall-watch.js';
import { virtualClock } from '../fakes/virtual-clock.js';

type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** Server with the given handler, and an exchange that sends to it. */
const served = async (handler: Handler, env: Record<string, string> = {}) => {
  const sockets = new Set<Socket>();
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks));
      handler(request, response, Buffer.concat(chunks));
    });
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const clock = virtualClock();
  const sendTo = httpExchange({ env, stallWatch: stallWatch(clock, 60_000) });
  const sender = (url: string, headers: [string, string][] = []) =>
    sendTo({ url: new URL(url), method: 'POST', headers });
  const { port } = server.address() as AddressInfo;
  const send = sender(`http://127.0.0.1:${port}/v1/messages`);
  const post = (body: string | Uint8Array, signal = new AbortController().signal) =>
    send([Buffer.from(body as string)], signal);
  return { clock, port, sender, post, sockets, bodies };
};

const ok: Handler = (_, response) => response.end('ok');

const chunksOf = async (response: IncomingMessage): Promise<string[]> => {
  const chunks: string[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk.toString());
  }
  return chunks;
};

describe('an exchange with the model', () => {
  test('sends bodies byte for byte, with their length', async () => {
    const headers: (string | undefined)[] = [];
    const { post, bodies } = await served((request, response) => {
      headers.push(request.headers['content-length']);
      response.end();
    });
    const whole = new Uint8Array([9, 0, 255, 10, 13, 128, 9]);
    const sent = [Buffer.from('é🦢'), whole.subarray(1, 6), Buffer.alloc(300_000, 'x')];
    for (const body of sent) await readErrorPage(await post(body));
    expect(bodies.map((body) => body.toString('hex'))).toEqual(
      sent.map((body) => Buffer.from(body).toString('hex')),
    );
    expect(headers).toEqual(['6', '5', '300000']);
  });

  test('sends a body of several buffers as a single body', async () => {
    const headers: (string | undefined)[] = [];
    const { port, sender, bodies } = await served((request, response) => {
      headers.push(request.headers['content-length'], request.headers['transfer-encoding']);
      response.end();
    });
    const send = sender(`http://127.0.0.1:${port}/`);
    const pieces = [Buffer.from('{"a":'), Buffer.alloc(300_000, '1'), Buffer.from('}')];
    await readErrorPage(await send(pieces, new AbortController().signal));
    expect(bodies).toEqual([Buffer.concat(pieces)]);
    expect(headers).toEqual(['300006', undefined]);
  });

  test('returns status, headers and body', async () => {
    const { post } = await served((_, response) => {
      response.writeHead(529, { 'request-id': 'req_1', 'set-cookie': ['a', 'b'] });
      response.end('{"type":"error"}');
    });
    const response = await post('');
    expect([response.statusCode, response.headers['request-id']]).toEqual([529, 'req_1']);
    expect(await readErrorPage(response)).toBe('{"type":"error"}');
  });

  test('sends the Host header and only the headers of its destination', async () => {
    const received: string[][] = [];
    const { sender, port } = await served((request, response) => {
      received.push(request.rawHeaders);
      response.end();
    });
    const send = sender(`http://localhost:${port}/`, [['x-mine', 'yes']]);
    await readErrorPage(await send([Buffer.from('x')], new AbortController().signal));
    expect(received).toEqual([
      [
        'x-mine',
        'yes',
        'accept-encoding',
        'identity',
        'content-length',
        '1',
        'Host',
        `localhost:${port}`,
        'Connection',
        'keep-alive',
      ],
    ]);
  });

  test('streams each chunk when it arrives', async () => {
    let next: (text: string) => void = () => {};
    let end = () => {};
    const { post } = await served((_, response) => {
      next = (text) => response.write(text);
      end = () => response.end();
      response.write('first');
    });
    const iterator = (await post(''))[Symbol.asyncIterator]();
    expect(String((await iterator.next()).value)).toBe('first');
    next('second');
    expect(String((await iterator.next()).value)).toBe('second');
    end();
    expect((await iterator.next()).done).toBe(true);
  });

  test('reuses the connection for sequential requests', async () => {
    const { post, sockets } = await served(ok);
    for (let count = 0; count < 5; count += 1) await readErrorPage(await post('x'));
    expect(sockets.size).toBe(1);
  });

  test('keeps all connections of parallel requests for the next requests', async () => {
    const width = 300;
    const waiting: ServerResponse[] = [];
    const { post, sockets } = await served((_, response) => {
      waiting.push(response);
      if (waiting.length === width) for (const response of waiting.splice(0)) response.end('ok');
    });
    const wave = () =>
      Promise.all(Array.from({ length: width }, async () => readErrorPage(await post(''))));
    await wave();
    await new Promise((resolve) => setImmediate(resolve));
    await wave();
    expect(sockets.size).toBe(width);
  });

  test('retries once on a kept connection that the server closed', async () => {
    let count = 0;
    const { post, sockets } = await served((request, response) => {
      count += 1;
      // The second request uses the kept connection, which the server closes.
      if (count === 2) request.socket.destroy();
      else response.end('ok');
    });
    await readErrorPage(await post('one'));
    expect(await readErrorPage(await post('two'))).toBe('ok');
    expect([count, sockets.size]).toEqual([3, 2]);
  });

  test('does not retry on a new connection', async () => {
    let count = 0;
    const { post } = await served((request) => {
      count += 1;
      request.socket.destroy();
    });
    await expect(post('x')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(count).toBe(1);
  });

  test('rejects when no server listens', async () => {
    const { sender } = await served(ok);
    const answer = sender('http://127.0.0.1:1/')([], new AbortController().signal);
    await expect(answer).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('stops if aborted before the request, before the answer or while reading', async () => {
    const { post } = await served((_, response, body) => {
      if (body.toString() === 'streams') response.write('first');
    });
    await expect(post('x', AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    const waiting = new AbortController();
    const answer = post('waits', waiting.signal);
    setImmediate(() => waiting.abort());
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    const reading = new AbortController();
    const chunks = chunksOf(await post('streams', reading.signal));
    reading.abort();
    await expect(chunks).rejects.toThrow('abort');
  });

  test('causes no uncaught exception if aborted after the complete answer arrived', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown) => uncaught.push(error);
    process.prependListener('uncaughtException', note);
    onTestFinished(() => void process.off('uncaughtException', note));
    const { post } = await served((_, response) => {
      response.write('one');
      response.end('two');
    });
    for (let round = 0; round < 20; round += 1) {
      const controller = new AbortController();
      const response = await post('x', controller.signal);
      const read = async () => {
        for await (const _ of response) controller.abort();
      };
      await read().catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(uncaught).toEqual([]);
  });

  test('aborts a silent exchange, and keeps no timer for finished exchanges', async () => {
    const { post, clock } = await served((_, response, body) => {
      if (body.toString() === 'ok') response.end('ok');
      else response.write('first');
    });
    await readErrorPage(await post('ok'));
    expect(clock.sleepers).toBe(0);
    const response = await post('stalls');
    const chunks = chunksOf(response);
    const [broken] = await Promise.allSettled([chunks, clock.advance(120_000)]);
    expect(broken).toMatchObject({ reason: expect.any(StalledError) });
    expect(clock.sleepers).toBe(0);
  });

  test('aborts an exchange without any answer', async () => {
    const { post, clock } = await served(() => {});
    const [broken] = await Promise.allSettled([post('x'), clock.advance(120_000)]);
    expect(broken).toMatchObject({ reason: expect.any(StalledError) });
  });
});

describe('a proxy', () => {
  test('receives a CONNECT request for the server', async () => {
    const tunnels: (string | undefined)[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket) => {
      tunnels.push(request.url);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { sender } = await served(ok, { HTTP_PROXY });
    const send = sender('http://api.test/v1/messages');
    const response = await send([], new AbortController().signal).then(
      ({ statusCode }) => statusCode,
      () => 'refused',
    );
    expect(tunnels).toEqual(['api.test:80']);
    expect([403, 'refused']).toContain(response);
  });
});
