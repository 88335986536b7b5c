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
  ] as const)('is, of the wish %s below %s, %s', (wanted, parent, mode) => {
    expect(agentMode(wanted, parent)).toBe(mode);
  });

  test('is bypassPermissions only where every agent above is in it', () => {
    const wish = fc.constantFrom(undefined, ...PERMISSION_MODES);
    const line = fc.array(wish, { maxLength: 5 });
    const lead = fc.constantFrom(...PERMISSION_MODES);
    fc.assert(
      fc.property(lead, line, (first, wishes) => {
        let mode: ReturnType<typeof agentMode> = first;
        const above: string[] = [mode];
        for (const wanted of wishes) {
          mode = agentMode(wanted, mode);
          above.push(mode);
        }
        const bypassing = above.map((it) => it === 'bypassPermissions');
        expect(bypassing.at(-1)).toBe(bypassing.every(Boolean));
      }),
    );
  });
});
