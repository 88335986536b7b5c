import { describe, expect, test } from 'vitest';
import type { LoadedSettings } from '../../src/config/load-settings.js';
import type { RuleBehavior } from '../../src/protocol/permission.js';
import { settingsNotices } from '../../src/sdk/settings-notices.js';

const TOOLS = ['Bash', 'Read', 'WebFetch'];

/** What is said of settings that have these rules, one a line. */
const said = (...rules: readonly [RuleBehavior, string][]) =>
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

describe('what is said of settings before a run', () => {
  test('names a tool that is nearly one of ours, and no tool of others', () => {
    expect(said(['deny', 'Bsah(rm:*)'], ['allow', 'Agent'], ['deny', 'mcp__bash'])).toEqual([
      'first',
      'The deny rule "Bsah(rm:*)" in /s.json, line 1, speaks of no tool that is here: did you mean Bash?',
      'last',
    ]);
  });

  test('is bounded, and says so', () => {
    const many = Array.from({ length: 500 }, () => ['allow', 'Read('] as [RuleBehavior, string]);
    const sentences = said(...many);
    expect(sentences).toHaveLength(23);
    expect(sentences.at(-2)).toBe('480 more rules have such mistakes.');
  });

  test('is nothing where a rule that should protect cannot be read: the command ends', () => {
    expect(() => said(['deny', 'Bash('])).toThrow('/s.json, line 1, cannot be read');
  });
});
