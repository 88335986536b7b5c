import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PERMISSION_MODES } from '../../src/protocol/permission/permission-mode.js';
import {
  type PermissionRule,
  SETTING_SOURCES,
} from '../../src/protocol/permission/permission-rule.js';
import type { SafetyFinding } from '../../src/protocol/tools/tool.js';
import { bash, fetchUrl, mcp, policyOf, read, readOnlyBash, write } from './policy-fixtures.js';

const REQUESTS = [
  read('src/a.ts'),
  read('/etc/hosts'),
  read('.env'),
  read('~/.skein/trust.json'),
  write('src/a.ts'),
  write('/etc/hosts'),
  write('.claude/settings.json'),
  bash('npm test'),
  bash('npm test && rm x'),
  readOnlyBash('ls src'),
  readOnlyBash('cat /etc/hosts'),
  fetchUrl('https://example.com'),
  mcp('mcp__git__push'),
];
const TEXTS = [
  '*',
  'Read',
  'Edit',
  'Write',
  'Bash',
  'Read(src/**)',
  'Edit(src/**)',
  'Read(//etc/**)',
  'Edit(//**)',
  'Bash(npm test:*)',
  'Bash(npm test)',
  'Bash(ls:*)',
  'Bash(*)',
  'Read(.env)',
  'WebFetch',
  'mcp__git',
  'Bash(',
  '',
  'WebFetch(domain:example.com)',
  'Read(~/.skein/**)',
];

const aRule: fc.Arbitrary<PermissionRule> = fc.record({
  behavior: fc.constantFrom('allow', 'deny', 'ask'),
  text: fc.oneof(fc.constantFrom(...TEXTS), fc.string()),
  source: fc.constantFrom(...SETTING_SOURCES),
});
const aFinding: fc.Arbitrary<SafetyFinding | undefined> = fc.option(
  fc.record({ behavior: fc.constantFrom('deny', 'ask'), reason: fc.constant('Careful.') }),
  { nil: undefined },
);
const aCase = fc.record({
  rules: fc.array(aRule, { maxLength: 6 }),
  mode: fc.constantFrom(...PERMISSION_MODES),
  surface: fc.boolean(),
  request: fc.constantFrom(...REQUESTS),
  finding: aFinding,
});

const STRICTNESS = { allow: 0, ask: 1, deny: 2 };

describe('for any rules, mode and call', () => {
  test('a deny rule overrides allow, ask and mode', () => {
    fc.assert(
      fc.property(aCase, ({ rules, mode, surface, request, finding }) => {
        const deny = { behavior: 'deny', text: request.tool, source: 'user' } as const;
        const ruling = policyOf({ rules: [...rules, deny], mode, surface }).rule(request, {
          finding,
        });
        expect(ruling).toMatchObject({ behavior: 'deny', step: 'deny' });
      }),
    );
  });

  test('another deny or ask rule never allows more', () => {
    const stricter = aRule.filter(({ behavior }) => behavior !== 'allow');
    fc.assert(
      fc.property(aCase, stricter, ({ rules, mode, surface, request, finding }, extra) => {
        const before = policyOf({ rules, mode, surface }).rule(request, { finding });
        const after = policyOf({ rules: [...rules, extra], mode, surface }).rule(request, {
          finding,
        });
        // An ask rule can turn a denial into a question; a deny rule can only deny.
        const floor = extra.behavior === 'deny' ? before.behavior : 'ask';
        const minimum = before.behavior === 'allow' ? 'allow' : floor;
        expect(STRICTNESS[after.behavior]).toBeGreaterThanOrEqual(STRICTNESS[minimum]);
      }),
    );
  });

  test('an effect is allowed only by a mode or an allow rule', () => {
    fc.assert(
      fc.property(aCase, ({ rules, mode, surface, request, finding }) => {
        const ruling = policyOf({ rules, mode, surface }).rule(request, { finding });
        fc.pre(ruling.behavior === 'allow' && !request.readOnly);
        const byMode = mode === 'acceptEdits' || mode === 'bypassPermissions';
        expect(ruling.step === 'mode' ? byMode : ruling.rule?.behavior === 'allow').toBe(true);
        // Plan mode leaves the web to rules and people, and refuses all other effects.
        expect(mode !== 'plan' || request.subject.action === 'network').toBe(true);
        expect(finding?.behavior).not.toBe('deny');
      }),
    );
  });

  test('no question is asked without a surface or in mode dontAsk', () => {
    fc.assert(
      fc.property(aCase, ({ rules, mode, surface, request, finding }) => {
        const { behavior } = policyOf({ rules, mode, surface }).rule(request, { finding });
        fc.pre(!surface || mode === 'dontAsk');
        expect(behavior).not.toBe('ask');
      }),
    );
  });

  test('the order of rules does not change the behavior', () => {
    fc.assert(
      fc.property(aCase, ({ rules, mode, surface, request, finding }) => {
        const forward = policyOf({ rules, mode, surface }).rule(request, { finding });
        const backward = policyOf({ rules: rules.toReversed(), mode, surface }).rule(request, {
          finding,
        });
        expect(backward.behavior).toBe(forward.behavior);
      }),
    );
  });

  test('a ruling has a reason and its rule', () => {
    fc.assert(
      fc.property(aCase, ({ rules, mode, surface, request, finding }) => {
        const ruling = policyOf({ rules, mode, surface }).rule(request, { finding });
        expect(ruling.reason).toMatch(/\S.*\.$/s);
        expect(ruling.step !== 'allow' || ruling.rule !== undefined).toBe(true);
      }),
    );
  });
});
