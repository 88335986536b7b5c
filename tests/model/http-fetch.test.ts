import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { httpFetch } from '../../src/model/http-fetch.js';
import { StalledError, stallWatch } from '../../src/model/stall-watch.js';
import { virtualClock } from '../fakes/virtual-clock.js';

type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** A real server that answers as told, and the fetch under test pointed at it. */
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
  const fetch = httpFetch({ env, stallWatch: stallWatch(clock, 60_000) });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/messages`;
  const post = (body: string | Uint8Array, signal?: AbortSignal) =>
    fetch(url, { method: 'POST', body: body as string, ...(signal && { signal }) });
  return { clock, fetch, url, post, sockets, bodies };
};

const ok: Handler = (_, response) => response.end('ok');

const chunksOf = async (response: Response): Promise<string[]> => {
  const chunks: string[] = [];
  for await (const chunk of response.body as unknown as AsyncIterable<Buffer>) {
    chunks.push(chunk.toString());
  }
  return chunks;
};

describe('the fetch of the model port', () => {
  test('sends bodies byte for byte, with their length', async () => {
    const headers: (string | undefined)[] = [];
    const { post, bodies } = await served((request, response) => {
      headers.push(request.headers['content-length']);
      response.end();
    });
    const whole = new Uint8Array([9, 0, 255, 10, 13, 128, 9]);
    const sent = [Buffer.from('é🦢'), whole.subarray(1, 6), Buffer.alloc(300_000, 'x')];
    for (const body of sent) await (await post(body)).text();
    await (await post('é🦢')).text();
    expect(bodies.map((body) => body.toString('hex'))).toEqual(
      [...sent, 'é🦢'].map((body) => Buffer.from(body as string).toString('hex')),
    );
    expect(headers).toEqual(['6', '5', '300000', '6']);
  });

  test('answers with status, headers and body', async () => {
    const { post } = await served((_, response) => {
      response.writeHead(529, { 'request-id': 'req_1', 'set-cookie': ['a', 'b'] });
      response.end('{"type":"error"}');
    });
    const response = await post('');
    expect([response.status, response.ok, response.headers.get('request-id')]).toEqual([
      ...[529, false, 'req_1'],
    ]);
    expect(await response.json()).toEqual({ type: 'error' });
  });

  test('streams what arrives as it arrives', async () => {
    let next: (text: string) => void = () => {};
    let end = () => {};
    const { post } = await served((_, response) => {
      next = (text) => response.write(text);
      end = () => response.end();
      response.write('first');
    });
    const body = (await post('')).body as unknown as AsyncIterable<Buffer>;
    const iterator = body[Symbol.asyncIterator]();
    expect(String((await iterator.next()).value)).toBe('first');
    next('second');
    expect(String((await iterator.next()).value)).toBe('second');
    end();
    expect((await iterator.next()).done).toBe(true);
  });

  test('uses one connection for requests that follow each other', async () => {
    const { post, sockets } = await served(ok);
    for (let count = 0; count < 5; count += 1) await (await post('x')).text();
    expect(sockets.size).toBe(1);
  });

  test('tries once more on a connection that the server had closed meanwhile', async () => {
    let count = 0;
    const { post, sockets } = await served((request, response) => {
      count += 1;
      // The second request comes on the kept connection, and meets a server that hangs up.
      if (count === 2) request.socket.destroy();
      else response.end('ok');
    });
    await (await post('one')).text();
    expect(await (await post('two')).text()).toBe('ok');
    expect([count, sockets.size]).toEqual([3, 2]);
  });

  test('does not try again on a fresh connection', async () => {
    let count = 0;
    const { post } = await served((request) => {
      count += 1;
      request.socket.destroy();
    });
    await expect(post('x')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(count).toBe(1);
  });

  test('says when nobody listens', async () => {
    const { fetch } = await served(ok);
    await expect(fetch('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('gives up when told to: before, while waiting, and while reading', async () => {
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

  test('lets nothing escape when an answer is aborted that has come in whole', async () => {
    const escaped: unknown[] = [];
    const note = (error: unknown) => escaped.push(error);
    process.prependListener('uncaughtException', note);
    onTestFinished(() => void process.off('uncaughtException', note));
    const { post } = await served((_, response) => {
      response.write('one');
      response.end('two');
    });
    for (let round = 0; round < 20; round += 1) {
      const controller = new AbortController();
      const { body } = await post('x', controller.signal);
      const read = async () => {
        for await (const _ of body as unknown as AsyncIterable<Buffer>) controller.abort();
      };
      await read().catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(escaped).toEqual([]);
  });

  test('breaks off an exchange that has gone silent, and watches none that ended', async () => {
    const { post, clock } = await served((_, response, body) => {
      if (body.toString() === 'ok') response.end('ok');
      else response.write('first');
    });
    await (await post('ok')).text();
    expect(clock.sleepers).toBe(0);
    const response = await post('stalls');
    const chunks = chunksOf(response);
    const [broken] = await Promise.allSettled([chunks, clock.advance(120_000)]);
    expect(broken).toMatchObject({ reason: expect.any(StalledError) });
    expect(clock.sleepers).toBe(0);
  });

  test('breaks off an exchange that never began to answer', async () => {
    const { post, clock } = await served(() => {});
    const [broken] = await Promise.allSettled([post('x'), clock.advance(120_000)]);
    expect(broken).toMatchObject({ reason: expect.any(StalledError) });
  });

  test('refuses bodies it could not send as they are', async () => {
    const { fetch, url } = await served(ok);
    const body = new Blob(['x']);
    await expect(fetch(url, { method: 'POST', body })).rejects.toThrow('Only strings and bytes');
  });
});

describe('a proxy', () => {
  test('is asked for a tunnel to the server', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket) => {
      asked.push(request.url);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { fetch } = await served(ok, { HTTP_PROXY });
    const response = await fetch('http://api.test/v1/messages').then(
      ({ status }) => status,
      () => 'refused',
    );
    expect(asked).toEqual(['api.test:80']);
    expect([403, 'refused']).toContain(response);
  });
});
