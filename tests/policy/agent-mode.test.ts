import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentMode } from '../../src/policy/agent-mode.js';
import { PERMISSION_MODES } from '../../src/protocol/permission/permission-mode.js';

describe('the mode of a sub-agent', () => {
  test.each([
    [undefined, 'default', 'default'],
    [undefined, 'bypassPermissions', 'bypassPermissions'],
    [undefined, 'bubble', 'bubble'],
    ['plan', 'bypassPermissions', 'plan'],
    ['plan', 'bubble', 'plan'],
    ['default', 'acceptEdits', 'default'],
    ['acceptEdits', 'bypassPermissions', 'acceptEdits'],
    ['dontAsk', 'default', 'dontAsk'],
    ['plan', 'dontAsk', 'plan'],
    ['dontAsk', 'plan', 'plan'],
    ['default', 'bubble', 'bubble'],
    ['acceptEdits', 'default', 'default'],
    ['bypassPermissions', 'bubble', 'bubble'],
    ['bypassPermissions', 'bypassPermissions', 'bypassPermissions'],
  ] as const)('is, for requested %s below %s, %s', (requested, parent, mode) => {
    expect(agentMode(requested, parent)).toBe(mode);
  });

  test('is bypassPermissions only if all ancestors use it', () => {
    const anyMode = fc.constantFrom(undefined, ...PERMISSION_MODES);
    const chain = fc.array(anyMode, { maxLength: 5 });
    const lead = fc.constantFrom(...PERMISSION_MODES);
    fc.assert(
      fc.property(lead, chain, (first, requests) => {
        let mode: ReturnType<typeof agentMode> = first;
        const above: string[] = [mode];
        for (const requested of requests) {
          mode = agentMode(requested, mode);
          above.push(mode);
        }
        const bypassing = above.map((ancestorMode) => ancestorMode === 'bypassPermissions');
        expect(bypassing.at(-1)).toBe(bypassing.every(Boolean));
      }),
    );
  });
});
