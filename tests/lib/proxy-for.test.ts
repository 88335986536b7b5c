import { describe, expect, test } from 'vitest';
import { proxyFor } from '../../src/lib/proxy-for.js';

const PROXY = 'http://proxy.corp:3128';
const proxyOf = (address: string, env: Record<string, string>) => proxyFor(new URL(address), env);

describe('the proxy for', () => {
  test.each<[string, Record<string, string>, string | undefined]>([
    ['https://api.test', {}, undefined],
    ['https://api.test', { HTTPS_PROXY: PROXY }, PROXY],
    ['https://api.test', { https_proxy: PROXY }, PROXY],
    ['https://api.test', { https_proxy: PROXY, HTTPS_PROXY: 'http://other' }, PROXY],
    ['https://api.test', { HTTP_PROXY: PROXY }, undefined],
    ['http://api.test', { HTTP_PROXY: PROXY }, PROXY],
    ['http://api.test', { HTTPS_PROXY: PROXY }, undefined],
    ['https://api.test', { HTTPS_PROXY: 'proxy.corp:3128' }, PROXY],
    ['https://api.test', { HTTPS_PROXY: '' }, undefined],
  ])('%s with the environment %j is %s', (address, env, proxy) => {
    expect(proxyOf(address, env)).toBe(proxy);
  });
});

describe('NO_PROXY', () => {
  test.each([
    ['*', 'https://api.test', true],
    ['api.test', 'https://api.test', true],
    ['API.Test', 'https://api.test', true],
    ['test', 'https://api.test', true],
    ['.test', 'https://api.test', true],
    ['*.test', 'https://api.test', true],
    ['pi.test', 'https://api.test', false],
    ['api.test.evil', 'https://api.test', false],
    ['other.test', 'https://api.test', false],
    ['api.test:443', 'https://api.test', true],
    ['api.test:8443', 'https://api.test', false],
    ['api.test:8443', 'https://api.test:8443', true],
    ['a, api.test ,b', 'https://api.test', true],
    ['a api.test b', 'https://api.test', true],
    ['127.0.0.1', 'https://127.0.0.1:9', true],
    ['::1', 'https://[::1]:9', true],
    ['[::1]', 'https://[::1]:9', true],
    ['[::1]:9', 'https://[::1]:9', true],
    ['[::1]:8', 'https://[::1]:9', false],
    ['', 'https://api.test', false],
    [',,', 'https://api.test', false],
    ['.', 'https://api.test', false],
  ])('"%s" excludes %s from the proxy: %s', (noProxy, address, isExcluded) => {
    const env = { HTTPS_PROXY: PROXY, NO_PROXY: noProxy };
    expect(proxyOf(address, env)).toBe(isExcluded ? undefined : PROXY);
  });
});
