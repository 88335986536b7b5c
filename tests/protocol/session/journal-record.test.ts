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

describe('a record', () => {
  test('is read as it was written, whatever it holds', () => {
    fc.assert(
      fc.property(anyJournal, (records) => {
        const lines = records.map(formatRecord);
        expect(lines.map(parseRecord)).toEqual(records);
        expect(lines.every((line) => !line.includes('\n'))).toBe(true);
      }),
    );
  });

  test('keeps its raw text byte for byte, as often as it is read and written', () => {
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
    ['nothing', ''],
    ['half a line', '{"v":1,"seq":1,"ts":5,"ep'],
    ['no object', '17'],
    ['null', 'null'],
    ['a list', '[]'],
    ['an unknown type', JSON.stringify({ ...head, type: 'agent.danced' })],
    ['a missing field', JSON.stringify({ ...head, type: 'run.started' })],
    ['another version', JSON.stringify({ ...head, v: 2, type: 'run.started', run: 1 })],
    ['no head', JSON.stringify({ type: 'run.started', run: 1 })],
    ['a stop reason of nobody', runEnded('bored')],
    ['a letter that is no list', formatRecord(letter('{"type":"text","text":"x"}'))],
    ['a letter of bare words', formatRecord(letter('["x"]'))],
    ['a letter that speaks as a tool', formatRecord(letter('[{"type":"tool_result"}]'))],
    ['a letter that speaks as the model', formatRecord(letter('[{"type":"tool_use"}]'))],
  ])('is not made of %s', (_, line) => {
    expect(parseRecord(line)).toBeUndefined();
  });

  test('may have keys that a later version added', () => {
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
