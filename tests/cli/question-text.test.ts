import { describe, expect, test } from 'vitest';
import { questionLines, wholeInput } from '../../src/cli/question-text.js';

const QUESTION = {
  id: 'q',
  agent: 'a',
  call: 'c',
  inputDigest: 'd',
  cwd: '/repo',
  risk: 'medium' as const,
  description: '',
  reason: '',
};

const linesFor = (tool: string, input: unknown, reason = 'No rule.') =>
  questionLines({ ...QUESTION, tool, input, description: `${tool} x`, reason }, 'The leader');

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
    const all = [{ ...edits[0], replace_all: true }];
    expect(inputOf('MultiEdit', { edits: all })).toEqual(['  - a', '  + b', '  replace_all: true']);
  });

  test('is both ends of what is long, and last that something is left out', () => {
    const edits = Array.from({ length: 50 }, (_, at) => ({ old_string: '', new_string: `e${at}` }));
    const content = Array.from({ length: 30 }, (_, line) => `line ${line}\n`).join('');
    const command = `rm -rf ~${'\n'.repeat(3_000)}ls`;
    const barely = Array.from({ length: 12 }, (_, line) => `line ${line}`).join('\n');
    const word = `start${'x'.repeat(100_000)}; rm -rf ~`;
    for (const [tool, input, first, last] of [
      ['MultiEdit', { edits }, '+ e0', '+ e49'],
      ['Write', { content }, '+ line 0', '+ line 29'],
      ['Bash', { command }, 'rm -rf ~', 'ls'],
      ['Bash', { command: barely }, 'line 0', 'line 11'],
      ['Bash', { command: word }, 'start', '; rm -rf ~'],
    ] as const) {
      const lines = linesFor(tool, input);
      expect(lines.length).toBeLessThan(30);
      expect(lines.join('\n').length).toBeLessThan(5_000);
      expect(lines.join('\n')).toContain(first);
      expect(lines.join('\n')).toContain(last);
      expect(lines.join('\n')).toMatch(/\(\d+ (lines|characters) are not shown here\)/);
      expect(lines.at(-1)).toBe('  Not all of it is shown: v shows it, and deny if in doubt.');
    }
  });

  test('is all of it when a person wants to see that', () => {
    const command = `start${'x'.repeat(1_000)}${'\n'.repeat(100)}\u001b[2J`;
    const lines = wholeInput({ ...QUESTION, tool: 'Bash', input: { command } });
    expect(lines).toHaveLength(102);
    expect(lines[1]).toBe(`    start${'x'.repeat(1_000)}`);
    expect(lines.at(-1)).toBe('    ^[[2J');
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
    const blanks = inputOf('Bash', { command: '\u3164\u115f\u034f\u2800\u{e0101}' });
    expect(blanks).toEqual(['  command: <U+3164><U+115F><U+034F><U+2800><U+E0101>']);
  });
});
