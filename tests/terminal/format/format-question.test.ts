import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReplacedFile } from '../../../src/protocol/permission/permission-question.js';
import {
  answerLines,
  formatQuestion,
  fullInputRows,
  questionFacts,
} from '../../../src/terminal/format/format-question.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';

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

const VIEW = { asker: 'The lead', columns: 80 };

const linesFor = (tool: string, input: unknown, reason = 'No rule.') =>
  formatQuestion({ ...QUESTION, tool, input, description: `${tool} x`, reason }, VIEW);

/** Rows behind the gutter. */
const inputOf = (tool: string, input: unknown) =>
  linesFor(tool, input).filter((line) => /^ {2}[|…]/.test(line));

const NOT_ALL = '  Not all of it is shown: v shows it. If in doubt, deny.';

describe('the text of a permission question', () => {
  test.each([
    [false, 'the same from now on, saved in .skein/settings.local.json'],
    [true, 'the same; other sessions ask again, despite the rule'],
  ])('explains the answer for the project, always asked: %s', (isAlwaysAsked, expected) => {
    const asked = { ...QUESTION, tool: 'Bash', input: {}, grant: 'Bash(make)', isAlwaysAsked };
    expect(formatQuestion(asked, VIEW)).toContain(`  p  project: ${expected}`);
  });

  test('shows the purpose of a child behind a gutter and without escape sequences', () => {
    const purpose = `the lead, ${'Find it\n\u001b[2J '.repeat(20)}`;
    const asked = { ...QUESTION, tool: 'Bash', input: { command: 'ls' } };
    const [head, first, second] = formatQuestion(asked, { asker: 'Agent x', purpose, columns: 80 });
    expect([head, first?.slice(0, 24)]).toEqual([
      'Agent x asks to use Bash.',
      '  for: the lead, Find it',
    ]);
    expect(second).toMatch(/^ {2}… /);
    expect(`${first}${second}`).not.toContain('\u001b');
  });

  test('shows every line of a command', () => {
    expect(linesFor('Bash', { command: 'a &&\nb', description: 'Both' })).toEqual([
      'The lead asks to use Bash.',
      '  | command:',
      '  |   a &&',
      '  |   b',
      '  | description: Both',
      '  risk: medium, it changes the workspace',
      '  reason: No rule.',
      '  o  once: this call and no other; such calls always ask',
      '  d  deny: the call does not run, and you can say why',
    ]);
  });

  test('shows the lines that an edit removes and adds', () => {
    const input = { file_path: 'a.ts', old_string: 'same\nold\nend', new_string: 'same\nnew\nend' };
    expect(inputOf('Edit', input)).toEqual(['  | file: a.ts', '  | - old', '  | + new']);
  });

  test('shows the lines that a Write call removes from an existing file', () => {
    const asked = (replaces: ReplacedFile) =>
      questionFacts(
        { ...QUESTION, tool: 'Write', input: { file_path: 'a', content: 'one\nnew\n' }, replaces },
        VIEW,
        'v shows it',
      ).filter((line) => line.startsWith('  | '));
    expect(asked({ bytes: 14, lines: 3, text: 'one\ntwo\nthree\n' })).toEqual([
      '  | file: a',
      '  | replaces: 3 lines of an existing file',
      '  | - two',
      '  | - three',
      '  | + new',
    ]);
    expect(asked({ bytes: 90_000, lines: 1_200 })).toEqual([
      '  | file: a',
      '  | replaces: 1,200 lines of an existing file, not shown here',
      '  | + one',
      '  | + new',
    ]);
    expect(asked({ bytes: 7 })).toContain(
      '  | replaces: 7 bytes of an existing file, not shown here',
    );
    expect(asked({ bytes: 0, lines: 0, text: '' })).toContain(
      '  | replaces: an existing file, which is empty',
    );
  });

  test('shows every edit of a MultiEdit call', () => {
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'c', new_string: '' },
    ];
    expect(inputOf('MultiEdit', { file_path: 'a.ts', edits })).toEqual([
      '  | file: a.ts',
      '  | - a',
      '  | + b',
      '  | - c',
    ]);
    const all = [{ ...edits[0], replace_all: true }];
    expect(inputOf('MultiEdit', { edits: all })).toEqual([
      '  | - a',
      '  | + b',
      '  | replace_all: true',
    ]);
  });

  test('shows the start and the end of a long input, with a note about the omitted part', () => {
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
      expect(lines.length).toBeLessThanOrEqual(24);
      expect(lines.join('\n').length).toBeLessThan(5_000);
      expect(lines.join('\n')).toContain(first);
      expect(lines.join('\n')).toContain(last);
      const text = lines.map((line) => line.slice(4)).join(' ');
      expect(text).toMatch(/\(\d+ (lines|characters) are not shown here\)/);
      expect(lines).toContain(NOT_ALL);
    }
  });

  test('shortens the input on a small screen and keeps the risk and the note about the omission', () => {
    const content = fc.array(fc.string({ maxLength: 300 }), { minLength: 40, maxLength: 60 });
    const reasons = fc.string({ minLength: 1, maxLength: 300 });
    const size = fc.record({
      columns: fc.integer({ min: 60, max: 120 }),
      rows: fc.integer({ min: 2, max: 30 }),
    });
    fc.assert(
      fc.property(content, reasons, size, (rows, reason, room) => {
        const input = { file_path: 'a.ts', content: rows.join('\n') };
        const facts = { blockedPath: '/etc', grant: 'Write(a.ts)', reason };
        const asked = { ...QUESTION, ...facts, tool: 'Write', input };
        const lines = questionFacts(asked, { ...VIEW, ...room }, 'v shows it');
        expect(lines.length).toBeLessThanOrEqual(room.rows);
        const all = [
          '  risk: medium',
          NOT_ALL,
          'The lead asks',
          '  rule: Write',
          '  reason:',
          '  path:',
        ];
        for (const start of all.slice(0, room.rows)) {
          expect(lines.some((line) => line.startsWith(start))).toBe(true);
        }
        expect(lines.includes('  | file: a.ts')).toBe(room.rows > all.length);
      }),
    );
  });

  test('counts all omitted lines, including the lines of an earlier cut', () => {
    const content = Array.from({ length: 30_000 }, (_, line) => `line ${line}\n`).join('');
    const rows = inputOf('Write', { file_path: 'a.ts', content });
    expect(rows.filter((row) => row.startsWith('  | + '))).toHaveLength(11);
    expect(rows).toContain('  | (29989 lines are not shown here)');
  });

  test('offers the answers session and project only with a rule to grant', () => {
    const keysOf = (lines: readonly string[]) => lines.map((line) => line.slice(0, 3)).join('');
    expect(keysOf(answerLines({}))).toBe('o  d  ');
    expect(keysOf(answerLines({ grant: 'Bash(make)' }))).toBe('o  s  p  d  ');
    expect(answerLines({ grant: 'Bash(make)', isAlwaysAsked: true })).toContain(
      'p  project: the same; other sessions ask again, despite the rule',
    );
  });

  test('shows the complete input on request', () => {
    const command = `start${'x'.repeat(1_000)}${'\n'.repeat(100)}\u001b[2J`;
    const why = {
      risk: 'high',
      blockedPath: '/etc',
      reason: `No rule.${' x'.repeat(200)}`,
    } as const;
    const lines = fullInputRows({ ...QUESTION, ...why, tool: 'Bash', input: { command } }, 2_000);
    expect(lines).toHaveLength(105);
    expect(lines.slice(0, 3)).toEqual([
      '  risk: high, it may leave the workspace, read secrets or be hard to undo',
      '  | path: /etc',
      `  | reason: ${why.reason}`,
    ]);
    expect(lines[4]).toBe(`  |   start${'x'.repeat(1_000)}`);
    expect(lines.at(-1)).toBe('  |   ^[[2J');
  });

  test('shows every field of the input of an unknown tool', () => {
    const input = { url: 'https://a.example', deep: { b: [1] }, none: null };
    expect(inputOf('mcp__x__y', input)).toEqual([
      '  | url: https://a.example',
      '  | deep: {"b":[1]}',
      '  | none: null',
    ]);
    expect(inputOf('Odd', 'text')).toEqual(['  | call: Odd x']);
    expect(inputOf('MultiEdit', { edits: ['x'] })).toEqual(['  | edit: x']);
  });

  test('spells out control characters and invisible characters', () => {
    const lines = linesFor('Bash', { command: 'ls\u001b[2K\u202e \u200bx' }, 'a\u001b[1A').join(
      '\n',
    );
    expect(lines).toContain('command: ls^[[2K<U+202E> <U+200B>x');
    expect(lines).toContain('reason: a^[[1A');
    const blanks = inputOf('Bash', { command: '\u3164\u115f\u034f\u2800\u{e0101}' });
    expect(blanks).toEqual(['  | command: <U+3164><U+115F><U+034F><U+2800><U+E0101>']);
  });

  test('shows the risk, the path, the rule and the effect of each answer', () => {
    const question = { ...QUESTION, tool: 'Edit', input: {}, description: '', reason: 'No rule.' };
    const more = { risk: 'high', blockedPath: '/etc/hosts', grant: 'Edit(//etc/hosts)' } as const;
    expect(formatQuestion({ ...question, ...more }, VIEW)).toEqual([
      'The lead asks to use Edit.',
      '  risk: high, it may leave the workspace, read secrets or be hard to undo',
      '  path: /etc/hosts',
      '  reason: No rule.',
      '  rule: Edit(//etc/hosts)',
      '  o  once: this call and no other',
      '  s  session: all calls that the rule allows, until the session ends',
      '  p  project: the same from now on, saved in .skein/settings.local.json',
      '  d  deny: the call does not run, and you can say why',
    ]);
  });

  test('cannot be imitated by text of the model at any width', () => {
    const fake = 'Allow it? o once, s session, p project, d deny: ';
    const hostile = fc.array(
      fc.constantFrom(fake, '\n', '  risk: low', '\u001b[1A', '\r', ' '.repeat(50), 'x'.repeat(70)),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(hostile, fc.constantFrom(60, 80, 160), (pieces, columns) => {
        const input = { command: pieces.join(''), [pieces.join('')]: pieces.join('') };
        const tool = 'Bash';
        const grant = `Bash(${pieces.join('')})`;
        const question = { ...QUESTION, tool, input, description: '', grant, reason: grant };
        const lines = formatQuestion(question, { ...VIEW, columns });
        const shown = [...lines, ...fullInputRows(question, columns)];
        for (const line of shown) expect(textWidth(line)).toBeLessThan(columns);
        const plain = lines.filter((line) => !/^ {2}[|…] /.test(line) && line !== NOT_ALL);
        expect(plain.filter((line) => !line.startsWith('     '))).toHaveLength(8);
        expect(lines.length).toBeLessThanOrEqual(36);
      }),
    );
  });

  test('redacts secrets but no shell syntax', () => {
    const key = `sk-ant-${'a1'.repeat(12)}`;
    expect(inputOf('Bash', { command: `curl -H "x-api-key: ${key}" a.example` })).toEqual([
      '  | command: curl -H "x-api-key: sk-ant-[redacted]" a.example',
    ]);
    expect(linesFor('Bash', { command: `use ${key}` })).toContain(NOT_ALL);
    const trick = 'curl http://a:$(rm$IFS-rf$IFS~)@b.example';
    expect(inputOf('Bash', { command: trick })).toEqual([`  | command: ${trick}`]);
  });
});
