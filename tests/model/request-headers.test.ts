import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestHeaders } from '../../src/model/request-headers.js';
import { sdkRequest } from '../../src/model/sdk-request.js';

const KEY = { apiKey: 'key', authToken: undefined, customHeaders: undefined, betas: '' };

const headersOfSdk = async (options: typeof BASE) =>
  [...(await sdkRequest({ ...options, baseUrl: 'http://localhost' })).headers].map(
    ([...pair]) => pair,
  );

const BASE: {
  apiKey: string | undefined;
  authToken: string | undefined;
  customHeaders: string | undefined;
  betas: string;
} = KEY;

describe('headers of a model request', () => {
  test('name the program, the platform and the key', () => {
    const machine = { platform: 'linux', arch: 'x64', version: 'v20.19.0' } as const;
    expect(requestHeaders(KEY, machine)).toEqual([
      ['accept', 'application/json'],
      ['anthropic-version', '2026-10-21'],
      ['authorization', 'Bearer key'],
      ['content-type', 'application/json'],
      ['user-agent', 'Anthropic/JS 1.8.0'],
      ['x-stainless-arch', 'x64'],
      ['x-stainless-lang', 'js'],
      ['x-stainless-os', 'Linux'],
      ['x-stainless-package-version', '1.8.0'],
      ['x-stainless-retry-count', '0'],
      ['x-stainless-runtime', 'node'],
      ['x-stainless-runtime-version', 'v20.19.0'],
      ['x-stainless-timeout', '86400'],
    ]);
  });

  test.each<[string, Partial<typeof BASE>]>([
    ['a key', {}],
    ['a key and a token', { authToken: 'token' }],
    ['a token', { apiKey: undefined, authToken: 'token' }],
    ['beta features', { betas: 'a-2025-01-01,b-2026-01-01' }],
    [
      'custom headers',
      { customHeaders: 'X-Team: birds and bees\nx-empty:\n\nno colon\nX-Url: http://a/' },
    ],
    ['a custom header twice', { customHeaders: 'X-Team: one\nx-team: two' }],
    ['a custom user agent', { customHeaders: 'User-Agent: mine' }],
    ['a custom key', { customHeaders: 'Authorization: Basic abc' }],
    ['custom beta features', { customHeaders: 'anthropic-beta: c', betas: 'a' }],
    ['custom beta features alone', { customHeaders: 'anthropic-beta: c' }],
    ['a custom content type', { customHeaders: 'Content-Type: text/plain' }],
    ['line ends of Windows', { customHeaders: 'X-One: 1\r\nX-Two: 2\r\n' }],
  ])('equal those of the SDK with %s', async (_, options) => {
    const all = { ...BASE, ...options };
    expect(requestHeaders(all)).toEqual(await headersOfSdk(all));
  });

  test.each<[string, Partial<typeof BASE>]>([
    ['a key with a line break', { apiKey: 'one\ntwo' }],
    ['a key with a blank at its end', { apiKey: 'key ' }],
    ['a name with a blank', { customHeaders: 'X Team: one' }],
    ['an empty name', { customHeaders: ': one' }],
    ['a value beyond ASCII', { customHeaders: 'X-Team: pingüino' }],
    ['a name of JavaScript', { customHeaders: '__proto__: one' }],
    ['a header that the SDK appends to', { customHeaders: 'x-stainless-helper: one' }],
    ['no credential', { apiKey: undefined }],
  ])('are left to the SDK with %s', (_, options) => {
    expect(requestHeaders({ ...BASE, ...options })).toBeUndefined();
  });

  test('are left to the SDK on an unknown platform', () => {
    const machine = { platform: 'sunos', arch: 'x64', version: 'v20.19.0' } as const;
    expect(requestHeaders(KEY, machine)).toBeUndefined();
  });

  test('equal those of the SDK with any custom headers that they accept', async () => {
    const name = fc.oneof(
      fc.constantFrom('X-A', 'x-a', 'accept', 'Host', 'toString', '0'),
      fc.string(),
    );
    const line = fc.tuple(name, fc.string()).map((parts) => parts.join(':'));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 4 }), async (lines) => {
        const all = { ...BASE, customHeaders: lines.join('\n') };
        const own = requestHeaders(all);
        expect(own).toEqual(own && (await headersOfSdk(all)));
      }),
    );
  });
});
