import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { CallLog, callLabel, callLines } from '../../../src/ui/session/call-log.js';
import { ended } from './live-state-fixtures.js';

const shown = (call: Parameters<typeof ended>[1], output: string, columns = 60) =>
  callLines(new CallLog().add(ended(output, call), 10), columns, paintFor(false));

describe('the full view of a call', () => {
  test('shows the input and the whole output', () => {
    const output = Array.from({ length: 100 }, (_, at) => `line ${at}`).join('\n');
    const lines = shown({}, output);
    expect(lines.slice(0, 3)).toEqual(['command: npm test', '', 'line 0']);
    expect(lines.at(-1)).toBe('line 99');
  });

  test('shows an edit as a diff', () => {
    const input = { file_path: 'a.ts', old_string: 'a\nb\nc\n', new_string: 'a\nB\nc\n' };
    expect(shown({ tool: 'Edit', input }, 'Done.')).toEqual([
      'file_path: a.ts',
      '',
      '@@ -1 +1 @@',
      '  a',
      '- b',
      '+ B',
      '  c',
      '',
      'Done.',
    ]);
  });

  test('shows the diff of a denied edit', () => {
    const input = { file_path: 'a.ts', old_string: 'x\n', new_string: 'y\n' };
    const denied = ended('Not this.', { tool: 'Edit', input, outcome: 'denied' });
    const lines = callLines(new CallLog().add(denied, undefined), 60, paintFor(false));
    expect(lines).toEqual(['file_path: a.ts', '', '@@ -1 +1 @@', '- x', '+ y', '', 'Not this.']);
  });

  test('shows a new file as added lines', () => {
    const input = { file_path: 'a.ts', content: 'one\ntwo\n' };
    expect(shown({ tool: 'Write', input }, 'Done.')).toContain('+ one');
  });

  test('shows every edit of a MultiEdit call', () => {
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'c', new_string: 'd' },
    ];
    const lines = shown({ tool: 'MultiEdit', input: { file_path: 'a.ts', edits } }, 'Done.');
    expect(lines.filter((line) => /^[-+] /.test(line))).toHaveLength(4);
  });

  test('colours a diff', () => {
    const input = { file_path: 'a', old_string: 'x', new_string: 'y' };
    const logged = new CallLog().add(ended('ok', { tool: 'Edit', input }), 1);
    const lines = callLines(logged, 60, paintFor(true));
    expect(lines).toContain('\u001b[32m+ y (no newline at the end)\u001b[0m');
  });

  test('contains no control characters and no secrets', () => {
    const lines = shown(
      { input: { command: 'x\u001b[2J' } },
      'token sk-ant-0123456789abcdef\u001b[2Jy',
    );
    expect(lines.join('\n')).not.toContain('\u001b');
    expect(lines.join('\n')).not.toContain('0123456789abcdef');
  });

  test('shows a long line to its end', () => {
    const lines = shown({}, `${'x'.repeat(25_000)}\nEND`);
    expect(lines.join('')).toContain('x'.repeat(25_000));
    expect(lines.at(-1)).toBe('END');
  });

  test('keeps every character of a line within the width', () => {
    const part = fc.constantFrom(
      'word ',
      'x'.repeat(700),
      '漢字'.repeat(300),
      ' '.repeat(1_500),
      '👩‍👩‍👧',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const lines = shown({ input: {} }, parts.join(''), 40);
        const flat = (text: string) => text.replaceAll(' ', '');
        expect(flat(lines.join(''))).toBe(flat(parts.join('')));
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(40);
      }),
      { numRuns: 30 },
    );
  });

  test('shows how much is left out and where the rest is stored', () => {
    const tall = shown({}, 'line\n'.repeat(30_000), 100);
    expect(tall.at(-1)).toBe(
      '(10,003 more lines left out. The journal of the session has all of it.)',
    );
    const wide = shown({}, 'x'.repeat(400_005), 100);
    expect(wide.at(-1)).toBe(
      '(5 more characters left out. The journal of the session has all of it.)',
    );
    const given = shown({ input: { command: 'x'.repeat(20_001) } }, 'ok', 100);
    expect(given).toContain(
      '  (1 more character left out. The journal of the session has all of it.)',
    );
  });

  test('accepts input of any type', () => {
    for (const input of [null, 7, 'text', [1], { edits: [null, 7] }, { old_string: 7 }]) {
      expect(shown({ tool: 'Edit', input }, 'ok').at(-1)).toBe('ok');
    }
  });
});

describe('the call log', () => {
  test('keeps the newest 100 calls', () => {
    const log = new CallLog();
    for (let at = 0; at < 150; at += 1) {
      log.add(ended('ok', { description: `call ${at}` }), 1);
    }
    expect(log.calls).toHaveLength(100);
    expect(log.forgotten).toBe(50);
    expect(log.calls.at(-1)?.label).toBe('call 149');
  });

  test('labels a call with a single line without secrets', () => {
    expect(callLabel('Bash a\nb sk-ant-0123456789abcdef')).toBe('Bash a b sk-ant-[redacted]');
  });
});
