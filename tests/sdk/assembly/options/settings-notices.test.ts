import { describe, expect, test } from 'vitest';
import type { LoadedSettings } from '../../../../src/config/settings/load-settings.js';
import type { RuleBehavior } from '../../../../src/protocol/permission/permission.js';
import { settingsNotices } from '../../../../src/sdk/assembly/options/settings-notices.js';

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

  test('is one sentence about all that a workspace did not get, its agents too', () => {
    const settings = {
      rules: [],
      warnings: [],
      ignored: [{ file: '/w/s.json', key: 'hooks' }],
      trust: 'untrusted',
      workspace: { root: '/w' },
      ignoredNotice: 'not this',
    } as unknown as LoadedSettings;
    const withheld = Array.from({ length: 12 }, (_, n) => `a${n}`);
    expect(settingsNotices(settings, TOOLS, withheld)).toEqual([
      "The workspace /w is not trusted, so its hooks, agents' model, permissionMode, hooks and mcpServers (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9 and 2 more) do not apply; review them, then run skein trust or pass --trust.",
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
