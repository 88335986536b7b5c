import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPathInside } from '../../../src/lib/paths/is-path-inside.js';
import { isForeign } from '../../../src/policy/paths/resolved-paths.js';
import { readShell } from '../../../src/policy/shell/reading/read-shell.js';
import { spellWords } from '../../../src/policy/shell/shell-word.js';
import type { PermissionRequest } from '../../../src/protocol/permission/ruling.js';
import { bash, fetchUrl, mcp, policyOf, read, rule, write } from '../policy-fixtures.js';

const WORLD = { home: '/', roots: ['/repo'], realPath: (path: string) => path, ignoreCase: false };

const policyWithGrant = (
  request: PermissionRequest,
  options: Parameters<typeof policyOf>[0] = {},
) =>
  policyOf({
    ...options,
    rules: [
      ...(options.rules ?? []),
      rule('allow', policyOf(options).exactRuleFor(request), 'session'),
    ],
  });

describe('a grant', () => {
  test.each([
    [bash('npm test'), 'Bash(npm test)'],
    [bash('touch *.ts'), 'Bash(touch \\*.ts)'],
    [write('src/a b.ts'), 'Edit(//repo/src/a[ ]b.ts)'],
    [read('/etc/hosts', 'Grep'), 'Read(//etc/hosts)'],
    [fetchUrl('https://example.com/a?b'), 'WebFetch(domain:example.com)'],
    [fetchUrl('https://example.com./'), 'WebFetch(domain:example.com)'],
    [mcp('mcp__git__push'), 'mcp__git__push'],
  ])('is the narrowest rule for the call: %#', (request, text) => {
    expect(policyOf().exactRuleFor(request)).toBe(text);
    expect(policyWithGrant(request).rule(request)).toMatchObject({
      behavior: 'allow',
      step: 'allow',
    });
  });

  const anyText = fc
    .string({ unit: fc.constantFrom(...'ab*\\ :()[]!#?/.\n'.split('')) })
    .filter((text) => text.trim() !== '');

  test('matches its call for any command or path that a person may allow', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom(bash, write), (text, make) => {
        fc.pre(!isForeign(text));
        fc.pre(policyOf().rule(make(text)).behavior !== 'deny');
        const policy = policyWithGrant(make(text));
        expect(policy.problems).toEqual([]);
        expect(policy.rule(make(text)).behavior).toBe('allow');
      }),
      { examples: [['*b*', bash]] },
    );
  });

  test.each(['a:/b', '\\\\host\\b', '//?/b', 'b:$DATA'])(
    'does not match a path of another system: %s',
    (path) => {
      expect(policyWithGrant(write(path)).rule(write(path)).behavior).toBe('ask');
    },
  );

  test('matches no command with other words', () => {
    const partsOf = (command: string) =>
      readShell(command, '/repo', WORLD).parts.map(({ words }) => spellWords(words));
    fc.assert(
      fc.property(anyText, anyText, (granted, other) => {
        fc.pre(granted.trim() !== other.trim());
        // The word `!` alone is no command, but its grant names the program of that name.
        const known = new Set([granted.trim(), ...partsOf(granted)]);
        const needsGrant = (part: string) => policyOf().rule(bash(part)).behavior !== 'allow';
        fc.pre(partsOf(other).some((part) => !known.has(part) && needsGrant(part)));
        const { behavior } = policyOf().rule(bash(other));
        expect(policyWithGrant(bash(granted)).rule(bash(other)).behavior).toBe(behavior);
      }),
    );
  });

  test('for an empty command matches no other command', () => {
    for (const empty of [' ', ':']) {
      expect(policyWithGrant(bash(empty)).rule(bash('touch a')).behavior).toBe('ask');
    }
  });

  test('matches only its path and paths below it', () => {
    fc.assert(
      fc.property(anyText, anyText, (granted, other) => {
        fc.pre(!isPathInside({ path: resolve('/repo', other), folder: resolve('/repo', granted) }));
        expect(policyWithGrant(write(granted)).rule(write(other)).behavior).toBe('ask');
      }),
    );
  });

  test('for the session answers an ask rule for exactly the same call', () => {
    const compound = { behavior: 'ask', reason: 'It is a compound command.' } as const;
    const policy = policyWithGrant(bash('a && b'), { rules: [rule('ask', 'Bash')] });
    expect(policy.rule(bash('a && b'), { finding: compound })).toMatchObject({
      behavior: 'allow',
      step: 'callback',
    });
    expect(policy.rule(bash('a && c'), { finding: compound }).behavior).toBe('ask');
  });

  test('from a settings file does not answer an ask rule', () => {
    const rules = [rule('ask', 'Bash'), rule('allow', 'Bash(npm test)', 'local')];
    expect(policyOf({ rules }).rule(bash('npm test')).behavior).toBe('ask');
  });

  test('no longer applies if a link changes its target', () => {
    const linked = (target: string) => (path: string) => path.replace('/repo/link', target);
    const text = policyOf({ realPath: linked('/data/a') }).exactRuleFor(write('link'));
    const rules = [rule('ask', 'Edit'), rule('allow', text, 'session')];
    expect(policyOf({ rules, realPath: linked('/data/a') }).rule(write('link')).behavior).toBe(
      'allow',
    );
    expect(policyOf({ rules, realPath: linked('/etc/b') }).rule(write('link')).behavior).toBe(
      'ask',
    );
  });

  test('never overrides a deny rule', () => {
    const policy = policyWithGrant(write('a'), { rules: [rule('deny', 'Edit(a)')] });
    expect(policy.rule(write('a')).behavior).toBe('deny');
  });
});
