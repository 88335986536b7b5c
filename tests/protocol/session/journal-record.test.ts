import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatRecord,
  type JournalRecord,
  parseRecord,
} from '../../../src/protocol/session/journal-record.js';
import { anyInput, anyJournal } from '../journal-records.js';

const head = { v: 1, seq: 1, ts: 5, epoch: 1 } as const;
const letter = (raw: string): JournalRecord => ({
  ...head,
  type: 'letter.received',
  letter: 'l_1',
  from: 'user',
  raw,
});

describe('a journal record', () => {
  test('is parsed as it was formatted, with any content', () => {
    fc.assert(
      fc.property(anyJournal, (records) => {
        const lines = records.map(formatRecord);
        expect(lines.map(parseRecord)).toEqual(records);
        expect(lines.every((line) => !line.includes('\n'))).toBe(true);
      }),
    );
  });

  test('keeps its raw text byte for byte when it is parsed and formatted again', () => {
    fc.assert(
      fc.property(anyInput, (value) => {
        const raw = JSON.stringify([{ type: 'text', value }]);
        const line = formatRecord(letter(raw));
        expect(line.endsWith(`,"raw":${raw}}`)).toBe(true);
        const again = parseRecord(line);
        expect(again).toMatchObject({ raw });
        expect(again && formatRecord(again)).toBe(line);
        expect(Buffer.from(line).toString()).toBe(line);
      }),
    );
  });

  test.each([
    ['an empty line', ''],
    ['half a line', '{"v":1,"seq":1,"ts":5,"ep'],
    ['a number', '17'],
    ['null', 'null'],
    ['a list', '[]'],
    ['an unknown type', JSON.stringify({ ...head, type: 'agent.danced' })],
    ['a missing field', JSON.stringify({ ...head, type: 'run.started' })],
    ['an unknown version', JSON.stringify({ ...head, v: 2, type: 'run.started', run: 1 })],
    ['a record without a head', JSON.stringify({ type: 'run.started', run: 1 })],
    ['an unknown stop reason', runEnded('bored')],
    ['a letter without a list', formatRecord(letter('{"type":"text","text":"x"}'))],
    ['a letter of strings', formatRecord(letter('["x"]'))],
    ['a letter with a tool result', formatRecord(letter('[{"type":"tool_result"}]'))],
    ['a letter with a tool use', formatRecord(letter('[{"type":"tool_use"}]'))],
  ])('is not parsed from %s', (_, line) => {
    expect(parseRecord(line)).toBeUndefined();
  });

  test('may have unknown keys of a later version', () => {
    const line = JSON.stringify({ ...head, type: 'run.started', run: 1, mood: 'good' });
    expect(parseRecord(line)).toMatchObject({ type: 'run.started', run: 1 });
  });
});

function runEnded(reason: string) {
  return JSON.stringify({
    ...head,
    type: 'run.ended',
    reason,
    detail: null,
    turns: 1,
    final: true,
  });
}
