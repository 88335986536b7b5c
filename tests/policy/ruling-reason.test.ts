import { describe, expect, test } from 'vitest';
import { PERMISSION_MODES } from '../../src/protocol/permission/permission-mode.js';
import type { PermissionRule } from '../../src/protocol/permission/permission-rule.js';
import type { PermissionRequest } from '../../src/protocol/permission/ruling.js';
import { bash, fetchUrl, mcp, ownState, policyOf, read, rule, write } from './policy-fixtures.js';
import { CORPUS } from './shell/shell-corpus.js';

describe('the reason of a ruling', () => {
  test('names the deny rule and its file', () => {
    const rules = [rule('deny', 'Bash(rm:*)', 'project', '/repo/.claude/settings.json')];
    expect(policyOf({ rules }).rule(bash('rm x'))).toEqual({
      behavior: 'deny',
      step: 'deny',
      rule: rules[0],
      reason: 'Denied by the rule "Bash(rm:*)" of /repo/.claude/settings.json.',
      instead: 'Only removing that rule would allow it.',
      risk: 'medium',
      readOnly: false,
    });
  });

  test('names the flag that allows the call if no surface can answer', () => {
    expect(policyOf({ surface: false }).rule(bash('npm test'))).toMatchObject({
      reason:
        'No rule and no mode allows Bash "npm test". No person or program can answer questions in this run, so the call was denied.',
      instead:
        'To allow it, pass --allowed-tools "Bash(npm test)", or let a program answer with --input-format stream-json.',
    });
  });

  test('quotes the flag for a shell', () => {
    const { instead } = policyOf({ surface: false }).rule(bash(`make "$HOME" it\\'s`));
    expect(instead).toContain(`--allowed-tools 'Bash(make "$HOME" it\\'\\''s)'`);
  });

  test('suggests no allow rule if only a person can approve', () => {
    const { reason, instead, blockedPath } = policyOf({ surface: false }).rule(read('.env'));
    expect(reason).toContain('/repo/.env may hold secrets');
    expect(instead).toContain('--input-format stream-json');
    expect(instead).not.toContain('--allowed-tools');
    expect(blockedPath).toBe('/repo/.env');
  });

  test('names the refusing mode', () => {
    expect(policyOf({ mode: 'plan' }).rule(write('a')).reason).toContain('plan mode allows none');
    expect(policyOf({ mode: 'dontAsk' }).rule(write('a')).reason).toContain('dontAsk refuses');
  });

  test('stays short for a long command', () => {
    expect(policyOf().rule(bash('x'.repeat(100_000))).reason.length).toBeLessThan(1000);
    expect(policyOf({ surface: false }).rule(bash('x'.repeat(100_000))).reason.length).toBeLessThan(
      2000,
    );
  });

  test('names the line of the rule if it is known', () => {
    const file = '/repo/.claude/settings.json';
    const rules = [{ ...rule('ask', 'Bash', 'project', file), line: 7 }];
    const { reason } = policyOf({ rules }).rule(bash('make'));
    expect(reason).toBe(`A person must agree, because of the rule "Bash" of ${file}, line 7.`);
  });

  test.each([
    ['allow', 'default', read('a.ts'), /allowed in every mode: only a deny or ask rule/],
    ['allow', 'acceptEdits', write('a'), /deny or ask rule, or another mode/],
    ['allow', 'bypassPermissions', bash('make'), /deny or ask rule, or another mode/],
    ['ask', 'default', bash('make'), /The allow rule "Bash\(make\)", or another mode than default/],
    ['deny', 'plan', write('a'), /let a person leave plan mode/],
    ['deny', 'dontAsk', write('a'), /Another mode or an allow rule/],
  ] as const)('explains how an %s of mode %s could change', (behavior, mode, request, words) => {
    const ruling = policyOf({ mode }).rule(request);
    expect(ruling.behavior).toBe(behavior);
    expect(ruling.instead).toMatch(words);
  });
});

/** Checks that the claims in the sentences of a ruling are true. */
describe('the advice of a ruling', () => {
  const ALL = [
    ...CORPUS.flatMap(({ commands }) => commands).map(bash),
    ...['a.ts', '/etc/hosts', '.env', '.claude/settings.json'].flatMap((path) => [
      read(path),
      write(path),
    ]),
    fetchUrl('https://example.com/'),
    mcp('mcp__git__push'),
    ownState('TodoWrite'),
  ];
  const MODES = [...PERMISSION_MODES];
  const plain = MODES.map((mode) => policyOf({ mode }));
  const behaviours = (request: PermissionRequest, rules: readonly PermissionRule[] = []) =>
    (rules.length === 0 ? plain : MODES.map((mode) => policyOf({ mode, rules }))).map(
      (policy) => policy.rule(request).behavior,
    );

  test.each(MODES)('is true for every call in mode %s', (mode) => {
    const policy = policyOf({ mode });
    const falseClaims = ALL.flatMap((request) => {
      const { behavior, instead } = policy.rule(request);
      const named = [rule('allow', policy.exactRuleFor(request))];
      const others = () => behaviours(request).filter((other) => other !== behavior);
      const claims: readonly [RegExp, () => boolean][] = [
        [/no rule and no mode/i, () => !behaviours(request, named).includes('allow')],
        [/no rule does/, () => policyOf({ rules: named }).rule(request).behavior !== 'allow'],
        [/allowed in every mode/, () => others().length === 0],
        [/(?:another|other) mode/i, () => others().length > 0],
        [/(?:or|,) mode bypassPermissions/, () => behaviours(request).at(-1) === 'allow'],
        [
          /the allow rule|or an allow rule/i,
          () => policyOf({ mode, rules: named }).rule(request).behavior === 'allow',
        ],
      ];
      const isFalse = claims.some(([words, isTrue]) => words.test(instead) && !isTrue());
      return isFalse ? [`${request.tool} ${request.subject.target}: ${instead}`] : [];
    });
    expect(falseClaims).toEqual([]);
  });
});

describe('the risk of a call', () => {
  test.each([
    ['low', read('a.ts')],
    ['medium', write('a.ts')],
    ['medium', bash('make')],
    ['high', write('/etc/hosts')],
    ['high', read('.env')],
    ['high', write('.git/hooks/pre-commit')],
  ] as const)('is %s', (risk, request) => {
    expect(policyOf().rule(request).risk).toBe(risk);
  });

  test('is high if the tool has a finding, unless the finding is mild', () => {
    const finding = { behavior: 'ask', reason: 'It cannot be undone.' } as const;
    expect(policyOf().rule(bash('make'), { finding }).risk).toBe('high');
    const mild = { ...finding, mild: true };
    expect(policyOf().rule(bash('make'), { finding: mild }).risk).toBe('medium');
  });
});
