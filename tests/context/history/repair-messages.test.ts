import fc from 'fast-check';
import { expect, test } from 'vitest';
import { historyMessage } from '../../../src/context/history/history-message.js';
import { newestCalls, repairMessages } from '../../../src/context/history/repair-messages.js';
import type { WireBlock } from '../../../src/protocol/model/wire-block.js';

const ids = fc.constantFrom('c1', 'c2', 'c3');
const text = fc.constantFrom('a', 'b').map((value) => ({ type: 'text', text: value }));
const call = ids.map((id) => ({ type: 'tool_use', id, name: 'Read', input: {} }));
const result = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'x' }));
const blocks = (kind: fc.Arbitrary<WireBlock>) =>
  fc.uniqueArray(kind, { minLength: 1, maxLength: 3, selector: (block) => JSON.stringify(block) });
const messages = fc.array(
  fc.oneof(
    fc.record({ role: fc.constant('user' as const), content: blocks(fc.oneof(text, result)) }),
    fc.record({ role: fc.constant('assistant' as const), content: blocks(fc.oneof(text, call)) }),
  ),
  { maxLength: 8 },
);

test('repaired messages alternate, and every call has its result in the next message', () => {
  fc.assert(
    fc.property(messages, fc.subarray(['c1', 'c2', 'c3']), (damaged, answered) => {
      const history = damaged.map(({ role, content }) =>
        historyMessage(role, JSON.stringify(content), false),
      );
      const messages = repairMessages(history, answered);
      const repaired = messages.map(
        ({ bytes }) => JSON.parse(bytes.toString()) as { role: string; content: WireBlock[] },
      );
      for (const [at, { role, content }] of repaired.entries()) {
        expect(role).toBe(at % 2 === 0 ? 'user' : 'assistant');
        const calls = (repaired[at - 1]?.content ?? []).filter(({ type }) => type === 'tool_use');
        const results = content.filter(({ type }) => type === 'tool_result');
        expect(new Set(results.map(({ tool_use_id }) => tool_use_id))).toEqual(
          new Set(role === 'user' ? calls.map(({ id }) => id) : []),
        );
      }
      expect(repairMessages(messages, answered)).toEqual(messages);
      expect([[], answered]).toContainEqual(newestCalls(messages));
    }),
  );
});
