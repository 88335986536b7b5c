import { describe, expect, test } from 'vitest';
import { questionLines } from '../../src/cli/question-text.js';

const linesFor = (tool: string, input: unknown, reason = 'No rule.') =>
  questionLines(
    {
      ...{ id: 'q', agent: 'a', call: 'c', tool, input, inputDigest: 'd' },
      ...{ description: `${tool} x`, reason },
    },
    'The leader',
  );

/** The lines between the head and the reason. */
const inputOf = (tool: string, input: unknown) => linesFor(tool, input).slice(1, -1);

describe('what a permission question shows', () => {
  test('is the whole command, with every line of it', () => {
    expect(linesFor('Bash', { command: 'a &&\nb', description: 'Both' })).toEqual([
      'The leader asks to use Bash.',
      '  command:',
      '    a &&',
      '    b',
      '  description: Both',
      '  reason: No rule.',
    ]);
  });

  test('is what an edit takes away and puts in', () => {
    const input = { file_path: 'a.ts', old_string: 'same\nold\nend', new_string: 'same\nnew\nend' };
    expect(inputOf('Edit', input)).toEqual(['  file: a.ts', '  - old', '  + new']);
  });

  test('is each of several edits', () => {
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'c', new_string: '' },
    ];
    expect(inputOf('MultiEdit', { file_path: 'a.ts', edits })).toEqual([
      ...['  file: a.ts', '  - a', '  + b', '  - c'],
    ]);
    expect(inputOf('MultiEdit', { edits: Array.from({ length: 12 }, () => edits[0]) }).at(-1)).toBe(
      '  (2 more edits)',
    );
  });

  test('is the beginning of a new file, and how much more there is', () => {
    const content = Array.from({ length: 30 }, (_, line) => `line ${line}\n`).join('');
    const lines = inputOf('Write', { file_path: 'a', content });
    expect(lines).toHaveLength(22);
    expect(lines.slice(-2)).toEqual(['  + line 19', '  (10 more lines)']);
  });

  test('is both ends of a command that is too long, and says so', () => {
    const lines = inputOf('Bash', { command: `start${'x'.repeat(100_000)}; rm -rf ~` }).join('\n');
    expect(lines.length).toBeLessThan(5_000);
    expect(lines).toContain('start');
    expect(lines).toContain('; rm -rf ~');
    expect(lines).toMatch(/\d+ characters are not shown here; deny if in doubt/);
  });

  test('is every part of an input that nobody knows', () => {
    const input = { url: 'https://a.example', deep: { b: [1] }, none: null };
    expect(inputOf('mcp__x__y', input)).toEqual([
      ...['  url: https://a.example', '  deep: {"b":[1]}', '  none: null'],
    ]);
    expect(inputOf('Odd', 'text')).toEqual(['  call: Odd x']);
    expect(inputOf('MultiEdit', { edits: ['x'] })).toEqual(['  edit: x']);
  });

  test('hides and obeys nothing', () => {
    const lines = linesFor('Bash', { command: 'ls\u001b[2K\u202e \u200bx' }, 'a\u001b[1A').join(
      '\n',
    );
    expect(lines).toContain('command: ls^[[2K<U+202E> <U+200B>x');
    expect(lines).toContain('reason: a^[[1A');
  });
});
