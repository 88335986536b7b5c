/** The end of a test run: the list of skipped tests and the counts. */
import { describe, expect, test } from 'vitest';
import { runTests } from './run-tests.js';

describe('a test run', () => {
  test('ends with a plain line of counts', async () => {
    const { lines, code } = await runTests("test('a', () => {}); needs('git')('b', () => {});");
    expect(lines.at(-1)).toBe('2 passed, 0 failed');
    expect(code).toBe(0);
  });

  test('lists skipped tests with reasons', async () => {
    const { lines } = await runTests(`
      needs('git', 'tmux')('draws', () => { throw new Error('ran'); });
      needs.describe('tmux')('the screen', () => test('scrolls', () => {}));
      test('asks', ({ skip }) => skip('not today'));
      test.skip('waits', () => {});`);
    const tmux =
      'tmux is missing: install tmux, or run as root on Debian, where it is installed by itself';
    expect(lines.slice(lines.indexOf('Skipped:'))).toEqual([
      'Skipped:',
      `  one.test.ts > draws: ${tmux}`,
      `  one.test.ts > the screen > scrolls: ${tmux}`,
      '  one.test.ts > asks: not today',
      '  one.test.ts > waits: no reason given',
      '',
      '0 passed, 0 failed, 4 skipped',
    ]);
  });

  test.each([
    ['a failing test', "test('a', () => expect(1).toBe(2));", '0 passed, 1 failed'],
    ['a file that does not load', "throw new Error('no');", '0 passed, 1 failed'],
    [
      'an unhandled rejection',
      "test('a', () => { void Promise.reject(new Error('lost')); });",
      '1 passed, 1 failed',
    ],
  ])('fails on %s', async (_, body, counts) => {
    const { lines, code } = await runTests(body);
    expect(lines.at(-1)).toBe(counts);
    expect(code).toBe(1);
  });

  test('hides keys, settings and proxies of the user from tests', async () => {
    const { lines } = await runTests(
      `test('a', () => {
        const seen = Object.keys(process.env).filter((name) => /^(ANTHROPIC|SKEIN|HTTPS?_PROXY)/.test(name));
        expect(seen.filter((name) => name !== 'SKEIN_TEST_SEED').sort()).toEqual(['SKEIN_HOME', 'SKEIN_TEST_REDIS_URL']);
        expect(process.env.HOME).not.toBe('/home/someone');
        expect(process.env.SKEIN_HOME).toBe(process.env.HOME + '/.skein');
        expect(process.env.GIT_CONFIG_GLOBAL).toBe('/dev/null');
        expect(process.env.GIT_DIR).toBeUndefined();
      });`,
      {},
      {
        HOME: '/home/someone',
        ANTHROPIC_API_KEY: 'secret',
        SKEIN_HOME: '/home/someone/.skein',
        SKEIN_MAX_AGENTS: '1',
        SKEIN_TEST_REDIS_URL: 'redis://x',
        HTTP_PROXY: 'http://proxy.invalid',
        GIT_DIR: '/home/someone/.git',
      },
    );
    expect(lines.at(-1)).toBe('1 passed, 0 failed');
  });
});
