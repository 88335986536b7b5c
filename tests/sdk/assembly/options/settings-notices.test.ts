import { describe, expect, test } from 'vitest';
import type { LoadedSettings } from '../../../../src/config/settings/load-settings.js';
import type { RuleBehavior } from '../../../../src/protocol/permission/permission-rule.js';
import { knownTools } from '../../../../src/sdk/assembly/options/known-tools.js';
import { settingsNotices } from '../../../../src/sdk/assembly/options/settings-notices.js';
import { builtinTools } from '../../../../src/tools/builtin-tools.js';

const TOOLS = knownTools(builtinTools, true);

/** Returns the notices about settings with these rules, one per line. */
const noticesAbout = (...rules: readonly [RuleBehavior, string][]) =>
  settingsNotices(
    {
      rules: rules.map(([behavior, text], index) => {
        return { behavior, text, source: 'user' as const, file: '/s.json', line: index + 1 };
      }),
      warnings: ['first'],
      ignoredNotice: 'last',
    } as unknown as LoadedSettings,
    TOOLS,
  );

describe('notices about settings before a run', () => {
  test('report an allow rule that can never match, and no tool of other programs', () => {
    expect(
      noticesAbout(['allow', 'Bsah(rm:*)'], ['deny', 'Skill(a)'], ['deny', 'mcp__bash']),
    ).toEqual([
      'first',
      'The allow rule "Bsah(rm:*)" in /s.json, line 1, can never match: there is no tool named "Bsah"; did you mean Bash? It is ignored.',
      'last',
    ]);
  });

  test('have one sentence about all ignored settings of a workspace and its agents', () => {
    const settings = {
      rules: [],
      warnings: [],
      ignored: [{ file: '/w/s.json', key: 'hooks' }],
      trust: 'untrusted',
      workspace: { root: '/w' },
      ignoredNotice: 'not this',
    } as unknown as LoadedSettings;
    const withheld = Array.from({ length: 12 }, (_, n) => {
      return { agent: `a${n}`, fields: n === 7 ? ['model', 'hooks'] : ['hooks'] };
    });
    expect(settingsNotices(settings, TOOLS, withheld)).toEqual([
      "The workspace /w is not trusted, so its hooks, agents' hooks and model (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9 and 2 more) do not apply; review them, then run skein trust or pass --trust.",
    ]);
  });

  test('are limited in number, and the omitted notices are counted', () => {
    const many = Array.from({ length: 500 }, () => ['allow', 'Read('] as [RuleBehavior, string]);
    const sentences = noticesAbout(...many);
    expect(sentences).toHaveLength(23);
    expect(sentences.at(-2)).toBe('480 more rules have similar mistakes.');
  });

  test('fail with UsageError if a deny rule cannot be read', () => {
    expect(() => noticesAbout(['deny', 'Bash('])).toThrow('/s.json, line 1, cannot be read');
  });

  test.each(['deny', 'ask'] as const)(
    'fail with UsageError if a rule to %s can never match',
    (behavior) => {
      const rule = () => noticesAbout(['allow', 'Read'], [behavior, 'Task(modle:opus)']);
      expect(rule).toThrow('"Task(modle:opus)" in /s.json, line 2, can never match');
    },
  );
});
