import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ruleProblems } from '../../../src/policy/rules/compile-rules.js';
import { bash, fetchUrl, mcp, policyOf, rule } from '../policy-fixtures.js';

const denies = (text: string, url: string): boolean =>
  policyOf({ rules: [rule('deny', text)] }).rule(fetchUrl(url)).step === 'deny';

describe('a rule for a domain', () => {
  test.each([
    ['example.com', 'https://example.com/a', true],
    ['example.com', 'https://EXAMPLE.com.:8443/', true],
    ['Example.COM.', 'https://example.com/', true],
    ['example.com', 'https://user:word@example.com/', true],
    ['example.com', 'https://www.example.com/', false],
    ['example.com', 'https://example.com.evil.net/', false],
    ['example.com', 'https://evil.net/example.com', false],
    ['example.com', 'https://example.com@evil.net/', false],
    ['*.example.com', 'https://a.b.example.com/', true],
    ['*.example.com', 'https://example.com/', false],
    ['*.example.com', 'https://notexample.com/', false],
    ['*', 'https://anything.at/all', true],
    ['m\u00fcnchen.de', 'https://xn--mnchen-3ya.de/', true],
    ['127.0.0.1', 'http://0x7f.1/', true],
    ['[::1]', 'http://[0:0:0:0:0:0:0:1]:80/', true],
  ])('domain:%s matches %s: %s', (domain, url, expected) => {
    expect(denies(`WebFetch(domain:${domain})`, url)).toBe(expected);
  });

  test.each([
    ['WebFetch(domain:)', 'the domain is missing'],
    ['WebFetch(domain:https://example.com)', 'write only the host'],
    ['WebFetch(domain:example.com/path)', 'write only the host'],
    ['WebFetch(domain:example.com:8080)', 'write only the host'],
    ['WebFetch(domain:ex*mple.com)', 'a * is allowed only'],
    ['WebFetch(domain:example.*)', 'a * is allowed only'],
    ['mcp__git__push(main)', 'takes no pattern; write mcp__git__push'],
    ['Task(model:)', 'the value after "model:" is missing'],
  ])('is reported as a problem if it would protect no call: %s', (text, problem) => {
    const [found] = ruleProblems([rule('deny', text)]);
    expect([found?.fatal, found?.message]).toEqual([true, expect.stringContaining(problem)]);
  });

  test('is either valid or reported, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.webUrl(), (text, url) => {
        for (const written of [`WebFetch(domain:${text})`, `mcp__${text}`, `${text}(domain:a)`]) {
          const rules = [rule('deny', written)];
          const isReported = ruleProblems(rules).length > 0;
          const { step } = policyOf({ rules }).rule(fetchUrl(url));
          expect(isReported && step === 'deny').toBe(false);
        }
      }),
    );
  });

  test('does not apply to commands and MCP tools', () => {
    const policy = policyOf({ rules: [rule('deny', 'WebFetch(domain:*)')] });
    expect(policy.rule(bash('curl https://example.com')).step).not.toBe('deny');
    expect(policy.rule(mcp('mcp__web__fetch')).step).not.toBe('deny');
  });
});
