import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileTextPattern, literalTextPattern } from '../../../src/policy/rules/text-pattern.js';
import { bash, policyOf, read, rule } from '../policy-fixtures.js';

const allows = (text: string, command: string) =>
  policyOf({ rules: [rule('allow', text)] }).rule(bash(command)).behavior === 'allow';
const denies = (text: string, command: string) =>
  policyOf({ mode: 'bypassPermissions', rules: [rule('deny', text)] }).rule(bash(command))
    .behavior === 'deny';

describe('an allow rule for commands', () => {
  test.each([
    ['Bash', 'anything at all'],
    ['Bash(*)', 'anything at all'],
    ['Bash(npm test)', 'npm test'],
    ['Bash(npm test)', '  npm test '],
    ['Bash(npm run test:*)', 'npm run test'],
    ['Bash(npm run test:*)', 'npm run test --watch'],
    ['Bash(npm run test *)', 'npm run test --watch'],
    ['Bash(git * main)', 'git push origin main'],
    ['Bash(git commit:*)', 'git commit -m "a & b; c"'],
    ['Bash(npm test:*)', 'npm test 2>&1'],
    ['Bash(echo a && echo b)', 'echo a && echo b'],
  ])('%s allows: %s', (text, command) => {
    expect(allows(text, command)).toBe(true);
  });

  test.each([
    ['Bash(npm test)', 'npm test --watch'],
    ['Bash(npm run test:*)', 'npm run testing'],
    ['Bash(npm test:*)', 'npm test; rm -rf x'],
    ['Bash(npm test:*)', 'npm test && rm x'],
    ['Bash(npm test:*)', 'npm test | sh'],
    ['Bash(npm test:*)', 'npm test\nrm x'],
    ['Bash(npm test:*)', 'npm test $(rm x)'],
    ['Bash(npm test:*)', 'npm test "`rm x`"'],
    ['Bash(echo:*)', 'echo x > /etc/hosts'],
    ['Bash(echo:*)', 'echo x & touch y'],
    ['Bash(git * main)', 'git push; rm main'],
    ['Bash(a*a)', 'a'],
    ['BashOutput', 'touch x'],
  ])('%s does not allow: %s', (text, command) => {
    expect(allows(text, command)).toBe(false);
  });
});

describe('a deny rule for commands', () => {
  test.each([
    ['Bash(rm:*)', 'rm -rf x'],
    ['Bash(rm:*)', 'cd a && rm -rf x'],
    ['Bash(rm:*)', 'ls; sudo   rm x'],
    ['Bash(rm:*)', 'FOO=1 env BAR=2 rm x'],
    ['Bash(rm:*)', '/bin/rm x'],
    ['Bash(rm:*)', 'timeout 5 nice -n 3 rm x'],
    ['Bash(rm:*)', 'echo $(rm x)'],
    ['Bash(rm:*)', 'bash -c "rm x"'],
    ['Bash(rm:*)', 'true\nrm x'],
    ['Bash(git push:*)', 'git  push'],
    ['Read(secrets/**)', 'cat secrets/key.txt'],
    ['Read(//etc/shadow)', 'cat </etc/shadow'],
    ['Edit(src/**)', 'sed -i s/a/b/ src/a.ts'],
  ])('%s matches: %s', (text, command) => {
    expect(denies(text, command)).toBe(true);
  });

  test.each([
    ['Bash(rm:*)', 'rmdir x'],
    ['Bash(rm:*)', 'npm run rm'],
    ['Read(secrets/**)', 'cat src/a.ts'],
    ['Read', 'ls'],
  ])('%s does not match: %s', (text, command) => {
    expect(denies(text, command)).toBe(false);
  });

  test('does not apply to files', () => {
    const policy = policyOf({ rules: [rule('deny', 'Bash(src/a.ts)')] });
    expect(policy.rule(read('src/a.ts')).behavior).toBe('allow');
  });
});

describe('a text pattern', () => {
  test('made from a text matches only that text', () => {
    const star = fc.string({ unit: fc.constantFrom('a', '*', '\\', ' ', ':', '(') });
    fc.assert(
      fc.property(star, star, (text, other) => {
        const pattern = compileTextPattern(literalTextPattern(text));
        expect(pattern.matches(text)).toBe(true);
        expect(pattern.matches(other)).toBe(other === text);
      }),
    );
  });

  test('matches like its regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    fc.assert(
      fc.property(letters, text, (pattern, subject) => {
        const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(subject);
        expect(compileTextPattern(pattern).matches(subject)).toBe(expected);
      }),
    );
  });

  test('with many stars matches in bounded time', () => {
    const pattern = compileTextPattern(`${'a*'.repeat(500)}b`);
    expect(pattern.matches('a'.repeat(50_000))).toBe(false);
  });
});

describe('a deny rule against a disguised command', () => {
  test.each(['\\rm -rf x', "r''m -rf x", 'r""m x', "'rm' x", 'sudo \\rm x', 'true; r\\m x'])(
    'matches despite quotes and backslashes: %s',
    (command) => {
      expect(denies('Bash(rm:*)', command)).toBe(true);
    },
  );
});
