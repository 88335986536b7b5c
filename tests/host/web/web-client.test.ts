import { createServer } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Lookup } from '../../../src/host/web/guarded-lookup.js';
import { type WebClientOptions, webClient } from '../../../src/host/web/web-client.js';
import { systemClock } from '../../../src/protocol/clock.js';
import type { WebPage } from '../../../src/protocol/tools/web.js';
import { eventually } from '../../fakes/eventually.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { type Handler, sends, type WebServer, webServer } from './web-server.js';

const never = new AbortController().signal;

/** Client that may connect to the given server, unless `options` says otherwise. */
const client = (server: WebServer | undefined, options: Partial<WebClientOptions> = {}) => {
  const web = webClient({
    env: {},
    clock: systemClock,
    userAgent: 'skein/0',
    allowPrivateAddresses: server === undefined ? [] : [`127.0.0.1:${server.port}`],
    ...options,
  });
  return {
    get: (address: string, signal = never) => web.get(new URL(address), signal),
    page: async (address: string) => {
      const page = (await web.get(new URL(address), never)) as WebPage;
      return { ...page, text: Buffer.from(page.body).toString() };
    },
  };
};

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
};

const redirects =
  (location: string, status = 302): Handler =>
  (_, response) => {
    response.writeHead(status, { location }).end('moved');
  };

describe('a page', () => {
  test('has the body, the status and the type of the answer', async () => {
    const server = await webServer(sends('<p>Hello', {}, 404));
    expect(await client(server).page(`${server.url}/a?b=c#d`)).toMatchObject({
      kind: 'page',
      address: `${server.url}/a?b=c`,
      status: 404,
      contentType: 'text/html',
      text: '<p>Hello',
      cut: false,
    });
  });

  test('is requested without cookies, credentials or a body', async () => {
    const server = await webServer(sends('', { 'set-cookie': 'a=b' }));
    const web = client(server);
    await web.get(server.url);
    await web.get(server.url);
    for (const { method, headers } of server.asked) {
      expect(method).toBe('GET');
      expect(Object.keys(headers).toSorted()).toEqual([
        'accept',
        'accept-encoding',
        'connection',
        'host',
        'user-agent',
      ]);
      expect(headers['user-agent']).toBe('skein/0');
    }
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
  ])('is decompressed: %s', async (encoding, pack) => {
    const server = await webServer(sends(pack('geese'), { 'content-encoding': encoding }));
    expect((await client(server).page(server.url)).text).toBe('geese');
  });

  test.each([
    ['gzip', 'not gzip at all'],
    ['zstd', 'x'],
    ['gzip, gzip', gzipSync(gzipSync('x'))],
  ])('that cannot be decompressed is rejected: %s', async (encoding, body) => {
    const server = await webServer(sends(body, { 'content-encoding': encoding }));
    await expect(client(server).get(server.url)).rejects.toThrow(/unpacked|unknown compression/);
  });
});

describe('a page that is too large', () => {
  const limits = { bytes: 10_000 };
  const noise = Buffer.alloc(50_000, 'x');

  test('is cut, with and without a content length', async () => {
    const withLength = await webServer(sends(noise, { 'content-length': '50000' }));
    const withoutLength = await webServer((_, response) => {
      response.write(noise.subarray(0, 25_000));
      response.end(noise.subarray(25_000));
    });
    for (const server of [withLength, withoutLength]) {
      const { body, cut } = await client(server, { limits }).page(server.url);
      expect({ length: body.length, cut }).toEqual({ length: 10_000, cut: true });
    }
  });

  test('and never ends is disconnected at the limit', async () => {
    const server = await webServer((_, response) => {
      const more = () => {
        if (!response.destroyed) response.write(noise, () => setImmediate(more));
      };
      more();
    });
    expect((await client(server, { limits }).page(server.url)).cut).toBe(true);
    await eventually('the connection is closed', () => server.open.size === 0);
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('after decompression is cut too: %s', async (encoding, pack) => {
    const bomb = pack(Buffer.alloc(100_000_000));
    const server = await webServer(sends(bomb, { 'content-encoding': encoding }));
    const { body, cut } = await client(server).page(server.url);
    expect({ length: body.length, cut }).toEqual({ length: 10_485_760, cut: true });
  });

  test('and compressed is decompressed up to the limit', async () => {
    const random = Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * at * 31) % 251));
    const server = await webServer(
      sends(gzipSync(random, { level: 0 }), { 'content-encoding': 'gzip' }),
    );
    const { body, cut } = await client(server, { limits }).page(server.url);
    expect(cut).toBe(true);
    expect(body.length).toBeGreaterThan(5_000);
    expect(Buffer.from(body).equals(random.subarray(0, body.length))).toBe(true);
  });
});

describe('a page that takes too long', () => {
  test('is rejected when the server is silent', async () => {
    const clock = virtualClock();
    const server = await webServer((_, response) => void response.write('a'));
    const failure = client(server, { clock }).get(server.url).catch(String);
    await eventually('the server has a request', () => server.asked.length === 1);
    await eventually('the connection is closed', () => {
      void clock.advance(20_000);
      return server.open.size === 0;
    });
    expect(await failure).toContain('sent no data for 20000 ms');
    expect(clock.sleepers).toBe(0);
  });

  test('is rejected after the total time, even if data arrives steadily', async () => {
    const server = await webServer((_, response) => {
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(drip));
    });
    const limits = { totalMs: 300, idleMs: 200 };
    await expect(client(server, { limits }).get(server.url)).rejects.toThrow(/its time limit/);
    await eventually('the connection is closed', () => server.open.size === 0);
  });

  test('is disconnected when the call is interrupted', async () => {
    const server = await webServer((_, response) => void response.write('a'));
    const controller = new AbortController();
    const got = client(server).get(server.url, controller.signal);
    await eventually('the server has a request', () => server.asked.length === 1);
    controller.abort(new Error('stop'));
    await expect(got).rejects.toThrow('stop');
    await eventually('the connection is closed', () => server.open.size === 0);
    await expect(client(server).get(server.url, controller.signal)).rejects.toThrow('stop');
    expect(server.asked).toHaveLength(1);
  });
});

describe('a redirect', () => {
  test('within the host is followed, and the page has its final address', async () => {
    const server = await webServer((request, response) =>
      request.url === '/end'
        ? sends('there')(request, response)
        : redirects('/end')(request, response),
    );
    const { address, text } = await client(server).page(`${server.url}/start`);
    expect({ address, text }).toEqual({ address: `${server.url}/end`, text: 'there' });
  });

  test('is followed without reading its body', async () => {
    const server = await webServer((request, response) => {
      if (request.url === '/end') sends('there')(request, response);
      else response.writeHead(301, { location: '/end' }).write('never ends');
    });
    expect((await client(server).page(server.url)).text).toBe('there');
  });

  test.each([
    ['to another host', 'https://example.com/x', 'https://example.com/x'],
    ['without its scheme', '//example.com/x', 'https://example.com/x'],
    ['to http on another host', 'http://example.com/x', 'https://example.com/x'],
    ['to a private address', 'http://169.254.169.254/latest/', 'http://169.254.169.254/latest/'],
    ['to another name of this machine', 'http://localhost:1/', 'http://localhost:1/'],
    ['to another port', 'http://127.0.0.1:1/', 'http://127.0.0.1:1/'],
  ])('%s is reported and not followed', async (_, location, to) => {
    const server = await webServer(redirects(location));
    const answer = await client(server).get(server.url);
    expect(answer).toEqual({ kind: 'redirect', status: 302, to });
    expect(server.asked).toHaveLength(1);
  });

  test.each([
    ['file:///etc/passwd', 'only http and https'],
    ['javascript:alert(1)', 'only http and https'],
    ['https://me:secret@example.com/', 'a user name or a password'],
    ['http://[', 'no address'],
    [`/${'x'.repeat(3_000)}`, 'more than 2000 characters'],
  ])('to %s is rejected with the reason', async (location, why) => {
    const server = await webServer(redirects(location));
    await expect(client(server).get(server.url)).rejects.toThrow(why);
  });

  test('in a loop is rejected after five redirects', async () => {
    const server = await webServer((request, response) =>
      redirects(request.url === '/a' ? '/b' : '/a')(request, response),
    );
    await expect(client(server).get(server.url)).rejects.toThrow('redirects more than 5 times');
    expect(server.asked).toHaveLength(6);
  });

  test('without a location is a page', async () => {
    const server = await webServer(sends('odd', {}, 302));
    expect(await client(server).page(server.url)).toMatchObject({ status: 302, text: 'odd' });
  });
});

describe('a private address', () => {
  test('is refused before a connection is opened', async () => {
    const server = await webServer(sends('secret'));
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', 'localhost', '[::ffff:127.0.0.1]']) {
      const got = client(undefined).get(`http://${host}:${server.port}/`);
      await expect(got).rejects.toThrow(/on this machine or its network.*allowPrivateAddresses/);
    }
    expect(server.open.size).toBe(0);
  });

  test('is refused for every port except the allowed port', async () => {
    const [allowed, refused] = [await webServer(sends('one')), await webServer(sends('other'))];
    expect((await client(allowed).page(allowed.url)).text).toBe('one');
    await expect(client(allowed).get(refused.url)).rejects.toThrow('on this machine');
    expect(refused.asked).toEqual([]);
  });

  /** DNS lookup with the answers of the test. */
  const resolvesTo = (...answers: readonly (readonly string[])[]) => {
    const asked: string[] = [];
    const lookup: Lookup = (name, _, done) => {
      const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
      asked.push(name);
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    };
    return { lookup, asked };
  };

  test.each([
    [['127.0.0.1']],
    [['93.184.216.34', '127.0.0.1']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['169.254.169.254']],
  ])('behind a public name is refused at the DNS lookup: %j', async (addresses) => {
    const server = await webServer(sends('secret'));
    const { lookup, asked } = resolvesTo(addresses);
    const got = client(undefined, { lookup }).get(`http://rebind.example.com:${server.port}/`);
    await expect(got).rejects.toThrow('on this machine or its network');
    expect(asked).toEqual(['rebind.example.com']);
    expect(server.asked).toEqual([]);
  });

  test('cannot replace the checked address: the client connects to the address that it checked', async () => {
    const server = await webServer(sends('secret'));
    const { lookup, asked } = resolvesTo(['93.184.216.34'], ['127.0.0.1']);
    const web = client(undefined, { lookup, limits: { totalMs: 300 } });
    await expect(web.get(`http://rebind.example.com:${server.port}/`)).rejects.toThrow(
      /could not be fetched|its time limit/,
    );
    expect(asked).toEqual(['rebind.example.com']);
    expect(server.asked).toEqual([]);
  });

  test('behind an allowed name is fetched', async () => {
    const server = await webServer(sends('wiki'));
    const { lookup } = resolvesTo(['127.0.0.1']);
    const host = `wiki.example.com:${server.port}`;
    const web = client(undefined, { lookup, allowPrivateAddresses: [host] });
    expect((await web.page(`http://${host}/`)).text).toBe('wiki');
  });
});

describe('a URL with http', () => {
  test('becomes https unless it has a port', async () => {
    const web = client(undefined, { lookup: (_, __, done) => done(null, []) });
    await expect(web.get('http://example.com/a')).rejects.toThrow('https://example.com/a');
    await expect(web.get('http://example.com:8080/a')).rejects.toThrow('http://example.com:8080/a');
  });
});

describe('a server that cannot be reached', () => {
  test('is reported with the reason', async () => {
    const gone = createTcpServer();
    const port = await listen(gone);
    await new Promise((resolve) => gone.close(resolve));
    const web = client(undefined, { allowPrivateAddresses: ['127.0.0.1'] });
    await expect(web.get(`http://127.0.0.1:${port}/`)).rejects.toThrow('nothing answers there');
  });

  test('or disconnects, or uses another protocol, is an error', async () => {
    const cut = await webServer((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('short');
      setImmediate(() => response.destroy());
    });
    await expect(client(cut).get(cut.url)).rejects.toThrow('could not be fetched');
    const rude = createTcpServer((socket) => socket.end('220 smtp ready\r\n'));
    onTestFinished(() => void rude.close());
    const port = await listen(rude);
    const web = client(undefined, { allowPrivateAddresses: ['127.0.0.1'] });
    await expect(web.get(`http://127.0.0.1:${port}/`)).rejects.toThrow('could not be fetched');
  });
});

describe('a proxy', () => {
  /** Connects every tunnel to the same server. */
  const proxyTo = async (port: number) => {
    const tunnels: (string | undefined)[] = [];
    const proxy = createServer();
    proxy.on('connect', ({ url }, socket: Socket) => {
      tunnels.push(url);
      const onward = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      socket.on('close', () => onward.destroy());
    });
    onTestFinished(() => void proxy.close());
    return { tunnels, url: `http://127.0.0.1:${await listen(proxy)}` };
  };
  const noNames: Lookup = () => {
    throw new Error('the proxy resolves names');
  };

  test('is used, and resolves names itself', async () => {
    const server = await webServer(sends('far away'));
    const proxy = await proxyTo(server.port);
    const web = client(undefined, { env: { HTTP_PROXY: proxy.url }, lookup: noNames });
    expect((await web.page('http://example.com:8080/')).text).toBe('far away');
    expect(proxy.tunnels).toEqual(['example.com:8080']);
  });

  test('that never opens the tunnel is given up after a time limit or an interrupt', async () => {
    const sockets = new Set<Socket>();
    const silent = createTcpServer((socket) => void sockets.add(socket.on('error', () => {})));
    const env = { HTTPS_PROXY: `http://127.0.0.1:${await listen(silent)}` };
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const web = client(undefined, { env, limits: { idleMs: 200 } });
    await expect(web.get('https://example.com/')).rejects.toThrow('sent no data for 200 ms');
    const controller = new AbortController();
    const got = client(undefined, { env }).get('https://example.com/', controller.signal);
    await eventually('the tunnel is asked for', () => sockets.size === 2);
    controller.abort(new Error('stop'));
    await expect(got).rejects.toThrow('stop');
  });

  test('is not used for addresses that are private by their spelling', async () => {
    const server = await webServer(sends('secret'));
    const proxy = await proxyTo(server.port);
    const web = client(undefined, { env: { HTTP_PROXY: proxy.url }, lookup: noNames });
    for (const host of ['10.0.0.1', 'localhost', '[::1]', 'metadata.google.internal', 'wiki']) {
      await expect(web.get(`http://${host}:8080/`)).rejects.toThrow('on this machine');
    }
    expect(proxy.tunnels).toEqual([]);
  });

  test('is bypassed for hosts in NO_PROXY, and the address is checked then', async () => {
    const server = await webServer(sends('near'));
    const proxy = await proxyTo(server.port);
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' };
    expect((await client(server, { env }).page(server.url)).text).toBe('near');
    await expect(client(undefined, { env }).get(server.url)).rejects.toThrow('on this machine');
    expect(proxy.tunnels).toEqual([]);
  });
});
