import { describe, expect, test } from 'vitest';
import type { CallOutcome } from '../../../src/protocol/session/journal-record.js';
import { formatCall, formatTodos } from '../../../src/terminal/format/format-call.js';
import { untrustedText } from '../../../src/tools/text/untrusted-text.js';

const formatted = (tool: string, outcome: CallOutcome, content: unknown, is_error?: boolean) =>
  formatCall({
    tool,
    outcome,
    raw: JSON.stringify({ type: 'tool_result', tool_use_id: 'c', content, is_error }),
  });

const numbered = (count: number) =>
  Array.from({ length: count }, (_, line) => `line ${line + 1}`).join('\n');

describe('the formatted result of a call', () => {
  test('shows the last lines of a command', () => {
    expect(formatted('Bash', 'ok', numbered(9))).toEqual({
      word: 'ok',
      remark: '',
      lines: ['(3 lines before)', 'line 4', 'line 5', 'line 6', 'line 7', 'line 8', 'line 9'],
    });
  });

  test('is a failure if the command failed', () => {
    expect(formatted('Bash', 'ok', 'no\n[Exit code 1.]', true)).toEqual({
      word: 'failed',
      remark: '',
      lines: ['no', '[Exit code 1.]'],
    });
  });

  test.each(['Read', 'Grep', 'Glob', 'LS'])('counts the lines of a result of %s', (tool) => {
    expect(formatted(tool, 'ok', numbered(3))).toEqual({
      word: 'ok',
      remark: '3 lines',
      lines: [],
    });
    expect(formatted(tool, 'ok', 'one')).toMatchObject({ remark: '1 line' });
    expect(formatted(tool, 'ok', '')).toMatchObject({ remark: '0 lines' });
  });

  test('quotes the first sentence of other results', () => {
    const content = 'Replaced one passage in a.ts. It now reads:\n 1 a';
    expect(formatted('Edit', 'ok', content)).toEqual({
      word: 'ok',
      remark: 'Replaced one passage in a.ts.',
      lines: [],
    });
    expect(formatted('Odd', 'ok', [{ type: 'image', source: {} }])).toMatchObject({
      remark: '(image)',
    });
  });

  test('shows the status and the output of a background task', () => {
    const started = 'Started in the background as bash_1. TaskOutput shows its output.';
    expect(formatted('Bash', 'ok', started)).toEqual({
      word: 'ok',
      remark: 'Started in the background as bash_1.',
      lines: [],
    });
    expect(formatted('TaskOutput', 'ok', 'bash_1 is running: serve\n\nserving\n')).toEqual({
      word: 'ok',
      remark: 'bash_1 is running: serve',
      lines: ['serving'],
    });
    expect(formatted('TaskStop', 'ok', 'Agent fork ag_1 "x" was stopped: 1 turn.')).toEqual({
      word: 'ok',
      remark: 'Agent fork ag_1 "x" was stopped: 1 turn.',
      lines: [],
    });
    const ended = 'Agent fork ag_1 "x" completed: 1 turn.\n<agent-report>\nOne.\n\nTwo.\n';
    expect(formatted('TaskOutput', 'ok', ended)).toEqual({
      word: 'ok',
      remark: 'Agent fork ag_1 "x" completed: 1 turn.',
      lines: [],
    });
    expect(formatted('TaskStop', 'error', 'There is no task.')).toMatchObject({
      word: 'failed',
      lines: ['There is no task.'],
    });
  });

  test('shows web search results without the marks of untrusted text', () => {
    const content = untrustedText('web search: x', '- Geese: https://a.example/\n\nThey fly.');
    expect(formatted('WebSearch', 'ok', content)).toEqual({
      word: 'ok',
      remark: '',
      lines: ['- Geese: https://a.example/', 'They fly.'],
    });
  });

  test('shows why a call failed or was denied, and the output before an interrupt', () => {
    expect(formatted('Edit', 'error', 'Not found.\nRead it.')).toEqual({
      word: 'failed',
      remark: '',
      lines: ['Not found.', 'Read it.'],
    });
    expect(formatted('Edit', 'denied', 'Not\nthis.')).toEqual({
      word: 'denied',
      remark: 'Not this.',
      lines: [],
    });
    expect(formatted('Edit', 'interrupted', 'Interrupted by the user.')).toEqual({
      word: 'interrupted',
      remark: '',
      lines: [],
    });
    expect(formatted('Bash', 'interrupted', 'Interrupted.\n\nhalf an output')).toMatchObject({
      lines: ['half an output'],
    });
    expect(
      formatted('Bash', 'interrupted', 'Interrupted.\n[Interrupted before it ended.]'),
    ).toEqual({
      word: 'interrupted',
      remark: '',
      lines: [],
    });
    expect(formatted('AskUser', 'interrupted', 'Interrupted.\nDecide it yourself.')).toEqual({
      word: 'interrupted',
      remark: '',
      lines: [],
    });
  });

  test('is cut and contains no control characters', () => {
    const { lines } = formatted(
      'Bash',
      'ok',
      `\u001b[31mred\u001b[0m\n\u001b]0;x\u0007${'y'.repeat(400_000)}`,
    );
    expect(lines[0]).toBe('red');
    expect(lines[1]?.length).toBeLessThanOrEqual(160);
    expect(lines.join('')).not.toMatch(/\p{Cc}/u);
  });
});

describe('the formatted todo list', () => {
  test('has a line for each todo with its status in words', () => {
    expect(
      formatTodos([
        { content: 'Look', status: 'completed' },
        { content: 'Mend\nit', status: 'in_progress' },
        { content: 'Test', status: 'pending' },
      ]),
    ).toEqual(['Things to do: 2 of 3 left', 'done:  Look', 'doing: Mend it', 'to do: Test']);
    expect(formatTodos([])).toEqual(['Things to do: none']);
  });

  test('shows at most 20 todos', () => {
    const todos = Array.from({ length: 200 }, () => ({ content: 'x', status: 'pending' as const }));
    expect(formatTodos(todos)).toHaveLength(22);
    expect(formatTodos(todos).at(-1)).toBe('(180 more lines)');
  });
});
