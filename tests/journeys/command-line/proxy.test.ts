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

const splice = (left: Socket, right: Socket) => {
  left.on('error', () => right.destroy()).pipe(right);
  right.on('error', () => left.destroy()).pipe(left);
};

/** A model behind TLS, and a proxy that records its tunnels. */
const setProxyScene = async () => {
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
    const upstream = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      splice(socket, upstream);
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
  test('in HTTPS_PROXY is used for the requests', async () => {
    const { run, tunnels, tlsPort, proxyPort } = await setProxyScene();
    const { code, result } = await run({ HTTPS_PROXY: `http://127.0.0.1:${proxyPort}` });
    expect({ code, result: result.result }).toEqual({ code: 0, result: 'Done.' });
    expect(tunnels.map(({ to }) => to)).toEqual([`localhost:${tlsPort}`]);
  });

  test('can be set in lower-case https_proxy, without a scheme and with a password', async () => {
    const { run, tunnels, proxyPort } = await setProxyScene();
    const { code } = await run({ https_proxy: `goose:honk@127.0.0.1:${proxyPort}` });
    expect(code).toBe(0);
    const secret = Buffer.from('goose:honk').toString('base64');
    expect(tunnels[0]?.headers['proxy-authorization']).toBe(`Basic ${secret}`);
  });

  test.each(['localhost', '.example.com,localhost', '*'])(
    'is not used with NO_PROXY=%s',
    async (NO_PROXY) => {
      const { run, tunnels, proxyPort } = await setProxyScene();
      const HTTPS_PROXY = `http://127.0.0.1:${proxyPort}`;
      expect(await run({ HTTPS_PROXY, NO_PROXY })).toMatchObject({ code: 0 });
      expect(tunnels).toEqual([]);
    },
  );

  test('for HTTPS is not used for HTTP', async () => {
    const { run, tunnels, proxyPort, simulator } = await setProxyScene();
    const HTTPS_PROXY = `http://127.0.0.1:${proxyPort}`;
    expect(await run({ HTTPS_PROXY, ANTHROPIC_BASE_URL: simulator.url })).toMatchObject({
      code: 0,
    });
    expect(tunnels).toEqual([]);
  });

  test('that is unreachable makes the run fail with the reason', async () => {
    const { run } = await setProxyScene();
    const { code, result } = await run({ HTTPS_PROXY: 'http://127.0.0.1:1' });
    expect(code).toBe(1);
    expect(result.result).toMatch(/could not be reached.*ECONNREFUSED/);
  });
});

describe('a server certificate', () => {
  test('without a trusted issuer is rejected before the request', async () => {
    const { run, simulator } = await setProxyScene();
    const { code, result } = await run({ NODE_EXTRA_CA_CERTS: '' });
    expect(code).toBe(1);
    expect(result.result).toMatch(/self-signed certificate/);
    expect(simulator.requests).toEqual([]);
  });
});
