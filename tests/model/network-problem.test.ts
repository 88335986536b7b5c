import { createServer, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { networkProblem } from '../../src/model/network-problem.js';
import { toModelFailure } from '../../src/model/to-model-failure.js';
import { NO_USAGE } from '../../src/protocol/model/usage.js';

/** Opens a connection that fails, and returns the error of node:net or node:tls. */
const errorOf = (url: string): Promise<Error> =>
  new Promise((resolve, reject) => {
    const open = url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = open(url, () => reject(new Error(`${url} answered.`)));
    request.on('error', resolve);
    request.end();
  });

/** Returns a port of this machine where no program listens. */
const closedPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const withCode = (code: string, more: object = {}) =>
  Object.assign(new Error(code), { code, ...more });

describe('a network problem', () => {
  test.each(['127.0.0.1', 'localhost'])(
    'is permanent if no program listens at %s',
    async (host) => {
      const error = await errorOf(`http://${host}:${await closedPort()}`);
      const { advice, isPermanent } = networkProblem(error);
      expect(isPermanent).toBe(true);
      expect(advice).toContain('start the server, or check ANTHROPIC_BASE_URL and the proxy');
      const partial = { messageId: null, usage: NO_USAGE, unfinishedText: null };
      const { message } = toModelFailure(error, partial, false);
      expect(message).toMatch(
        /^The model could not be reached: connect ECONNREFUSED .*: start the/,
      );
    },
  );

  test.each(['127.3.2.1', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1'])(
    'is permanent if the address %s, which is this machine, refuses',
    (address) => {
      expect(networkProblem(withCode('ECONNREFUSED', { address })).isPermanent).toBe(true);
    },
  );

  test('is permanent if the server has no TLS', async () => {
    const server = createServer((_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const error = await errorOf(`https://127.0.0.1:${port}`);
    const { advice, isPermanent } = networkProblem(error);
    expect(isPermanent).toBe(true);
    expect(advice).toContain('NODE_EXTRA_CA_CERTS');
    const partial = { messageId: null, usage: NO_USAGE, unfinishedText: null };
    // The message of OpenSSL has several lines and ends with a colon.
    expect(toModelFailure(error, partial, false).message).toMatch(
      /^The model could not be reached: .*\w\. No secure connection is possible: /,
    );
  });

  test.each([
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ENOTFOUND',
  ])('is permanent with the code %s', (code) => {
    expect(networkProblem(withCode(code)).isPermanent).toBe(true);
  });

  test.each([
    withCode('ECONNREFUSED', { address: '10.1.2.3' }),
    withCode('ECONNREFUSED', { address: '12.7.0.1' }),
    withCode('ECONNREFUSED', { address: '::2' }),
    withCode('EAI_AGAIN'),
    withCode('ETIMEDOUT'),
    withCode('ECONNRESET'),
    withCode('ENETUNREACH'),
    new Error('something else'),
    'no error at all',
    undefined,
    new AggregateError([withCode('ECONNREFUSED', { address: '::1' }), withCode('ETIMEDOUT')]),
  ])('may pass otherwise: %s', (error) => {
    const { advice, isPermanent } = networkProblem(error);
    expect(isPermanent).toBe(false);
    expect(advice).toBe('Check the network, the proxy and ANTHROPIC_BASE_URL.');
  });
});
