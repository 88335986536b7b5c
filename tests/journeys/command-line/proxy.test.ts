import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { setScene } from '../../fakes/skein-process.js';
import { selfSigned } from '../workers/self-signed.js';

const listen = async (server: Server): Promise<number> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
};

const splice = (one: Socket, other: Socket) => {
  one.on('error', () => other.destroy()).pipe(other);
  other.on('error', () => one.destroy()).pipe(one);
};

/** A model behind TLS, and a proxy that remembers where it was asked to go. */
const sceneBehindProxy = async () => {
  const scene = await setScene();
  const { key, cert } = selfSigned();
  const ca = join(scene.root, 'ca.pem');
  await writeFile(ca, cert);
  const tls = createTlsServer({ key, cert }, (socket) => {
    splice(socket, connect(scene.simulator.port, '127.0.0.1'));
  });
  const tlsPort = await listen(tls);

  const tunnels: { to: string | undefined; headers: IncomingHttpHeaders }[] = [];
  const proxy = createServer();
  proxy.on('connect', ({ url, headers }, socket: Socket) => {
    tunnels.push({ to: url, headers });
    const [, port] = (url ?? '').split(':');
    const onward = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      splice(socket, onward);
    });
  });
  const proxyPort = await listen(proxy);
  const run = (env: Record<string, string>) =>
    scene.run(['-p', 'hi', '--output-format', 'json'], {
      env: {
        ANTHROPIC_BASE_URL: `https://localhost:${tlsPort}`,
        NODE_EXTRA_CA_CERTS: ca,
        SKEIN_MAX_RETRIES: '0',
        ...env,
      },
    });
  return { ...scene, tunnels, tlsPort, proxyPort, run };
};

describe('a proxy', () => {
  test('is gone through when HTTPS_PROXY names it', async () => {
    const { run, tunnels, tlsPort, proxyPort } = await sceneBehindProxy();
    const { code, result } = await run({ HTTPS_PROXY: `http://127.0.0.1:${proxyPort}` });
    expect({ code, result: result.result }).toEqual({ code: 0, result: 'Done.' });
    expect(tunnels.map(({ to }) => to)).toEqual([`localhost:${tlsPort}`]);
  });

  test('may be named without a scheme, in small letters, and with a password', async () => {
    const { run, tunnels, proxyPort } = await sceneBehindProxy();
    const { code } = await run({ https_proxy: `goose:honk@127.0.0.1:${proxyPort}` });
    expect(code).toBe(0);
    const secret = Buffer.from('goose:honk').toString('base64');
    expect(tunnels[0]?.headers['proxy-authorization']).toBe(`Basic ${secret}`);
  });

  test.each(['localhost', '.example.com,localhost', '*'])(
    'is passed by for NO_PROXY=%s',
    async (it) => {
      const { run, tunnels, proxyPort } = await sceneBehindProxy();
      const HTTPS_PROXY = `http://127.0.0.1:${proxyPort}`;
      expect(await run({ HTTPS_PROXY, NO_PROXY: it })).toMatchObject({ code: 0 });
      expect(tunnels).toEqual([]);
    },
  );

  test('for https is not used for http', async () => {
    const { run, tunnels, proxyPort, simulator } = await sceneBehindProxy();
    const HTTPS_PROXY = `http://127.0.0.1:${proxyPort}`;
    expect(await run({ HTTPS_PROXY, ANTHROPIC_BASE_URL: simulator.url })).toMatchObject({
      code: 0,
    });
    expect(tunnels).toEqual([]);
  });

  test('that cannot be reached is an error that says so', async () => {
    const { run } = await sceneBehindProxy();
    const { code, result } = await run({ HTTPS_PROXY: 'http://127.0.0.1:1' });
    expect(code).toBe(1);
    expect(result.result).toMatch(/could not be reached.*ECONNREFUSED/);
  });
});

describe('a certificate', () => {
  test('that nobody vouches for is refused', async () => {
    const { run, simulator } = await sceneBehindProxy();
    const { code, result } = await run({ NODE_EXTRA_CA_CERTS: '' });
    expect(code).toBe(1);
    expect(result.result).toMatch(/self-signed certificate/);
    expect(simulator.requests).toEqual([]);
  });
});
