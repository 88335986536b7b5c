import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { inboxLines } from '../../../src/ui/inbox/inbox-lines.js';
import { type InboxEntry, QuestionInbox } from '../../../src/ui/inbox/question-inbox.js';
import { choice, permission } from './questions.js';

const inboxWith = (...entries: readonly Partial<InboxEntry>[]): QuestionInbox => {
  const inbox = new QuestionInbox({ showFull: () => {}, now: () => 0 });
  for (const entry of entries) {
    const question = entry.question ?? permission();
    const base = { kind: 'permission', question, id: question.id, askedAt: 0 };
    inbox.add({ ...base, asker: 'Agent explorer a_1', answer: () => {}, ...entry } as InboxEntry);
  }
  return inbox;
};

const linesOf = (inbox: QuestionInbox, columns = 80, rows = 40) =>
  inboxLines(inbox, {
    columns,
    rows,
    paint: paintFor(false),
    sign: '❯',
    now: 5_000,
    howTo: 'Tab',
  });

describe('a question on the screen', () => {
  test('shows the agent, its purpose, the input, the risk and the rule', () => {
    const inbox = inboxWith({ purpose: 'the lead, look around' });
    inbox.focus();
    expect(linesOf(inbox).lines).toEqual([
      '? A question (5s ago)',
      'Agent explorer a_1 asks to use Bash.',
      '  for: the lead, look around',
      '  | command: npm test',
      '  risk: medium, it changes the workspace',
      '  reason: No rule allows it.',
      '  rule: Bash(npm test)',
      '❯ o  once: this call and no other',
      '  s  session: all calls that the rule allows, until the session ends',
      '  p  project: the same from now on, saved in .skein/settings.local.json',
      '  d  deny: the call does not run, and you can say why',
      '  o s p d or arrows choose · Enter confirms · v shows all of it · Esc later',
    ]);
  });

  test('explains the effect of a lasting answer', () => {
    const question = permission({ isAlwaysAsked: true });
    expect(linesOf(inboxWith({ question })).lines).toContain(
      '  p  project: the same; other sessions ask again, despite the rule',
    );
    const { grant: _, ...once } = permission();
    expect(linesOf(inboxWith({ question: once })).lines).toContain(
      '  o  once: this call and no other; such calls always ask',
    );
  });

  test('shows the key to answer it and the number of other questions', () => {
    const inbox = inboxWith({}, { question: permission({ id: 'q_9' }) });
    expect(linesOf(inbox).lines.at(0)).toBe('? Question 1 of 2 (5s ago)');
    expect(linesOf(inbox).lines.at(-1)).toBe('  Tab answers it · 1 more question');
  });

  test('shows the removed and added lines of an edit', () => {
    const input = { file_path: 'a.ts', old_string: 'one', new_string: 'two' };
    const { lines } = linesOf(inboxWith({ question: permission({ tool: 'Edit', input }) }));
    expect(lines.slice(2, 5)).toEqual(['  | file: a.ts', '  | - one', '  | + two']);
  });

  test('shows text of the model only behind a gutter', () => {
    const input = { command: 'ls\n  o  once: this call and no other\u001b[2J' };
    const { lines } = linesOf(inboxWith({ question: permission({ input }) }));
    expect(lines.slice(2, 5)).toEqual([
      '  | command:',
      '  |   ls',
      '  |     o  once: this call and no other^[[2J',
    ]);
  });

  test('puts the cursor into the reason', () => {
    let now = 0;
    const inbox = new QuestionInbox({ showFull: () => {}, now: () => now });
    const question = permission();
    inbox.add({ kind: 'permission', question, id: 'q', asker: 'X', askedAt: 0, answer: () => {} });
    inbox.focus();
    now = 1_000;
    for (const name of ['d', 'return', 'n', 'o']) inbox.press({ name, sequence: name });
    const { lines, cursor } = linesOf(inbox);
    expect(lines[cursor?.row ?? 0]).toBe('  Why not? no');
    expect(cursor?.column).toBe(13);
  });

  test('shows a hint if no answer is selected', () => {
    const inbox = inboxWith({});
    inbox.focus();
    inbox.press({ name: 'x', sequence: 'x' });
    const { lines } = linesOf(inbox);
    expect(lines.join('\n')).not.toContain('❯');
    expect(lines.at(-1)).toBe(
      '  Nothing is chosen: o s p d or arrows choose · v shows all of it · Esc later',
    );
  });

  test.each([
    [
      100,
      'o s p d or arrows choose · Enter confirms · v shows all of it · Tab the next · Esc later',
    ],
    [60, 'o s p d · Enter confirms · v all · Tab next · Esc later'],
    [50, 'Enter confirms · v all · Tab next · Esc later'],
    [40, 'Enter confirms · Tab next · Esc later'],
    [30, 'Enter confirms · Esc later'],
  ])('shows the most important keys in %i columns', (columns, keys) => {
    const inbox = inboxWith({}, { question: permission({ id: 'q_9' }) });
    inbox.focus();
    expect(linesOf(inbox, columns).lines.at(-1)).toBe(`  ${keys}`);
  });

  test.each([
    [100, 'o s p d or arrows choose · v shows all of it · Tab the next · Esc later'],
    [60, 'o s p d · v all · Tab next · Esc later'],
    [40, 'o s p d · Esc later'],
  ])('shows that no answer is selected, and how to leave, in %i columns', (columns, keys) => {
    const inbox = inboxWith({}, { question: permission({ id: 'q_9' }) });
    inbox.focus();
    inbox.press({ name: 'x', sequence: 'x' });
    expect(linesOf(inbox, columns).lines.at(-1)).toBe(`  Nothing is chosen: ${keys}`);
  });

  test('lists the options of a choice with their check boxes', () => {
    const question = choice({ multiple: true });
    const inbox = inboxWith({ kind: 'choice', question });
    inbox.focus();
    inbox.press({ name: 'space' });
    expect(linesOf(inbox).lines.slice(2, 6)).toEqual([
      '  | Which one?',
      '❯ 1  [x] red',
      '  2  [ ] green (like grass)',
      '  3  in your own words',
    ]);
  });

  test.each([60, 80, 120, 250])('fits into %i columns', (columns) => {
    const input = { command: `echo ${'漢字 '.repeat(200)}`, description: 'x'.repeat(500) };
    const { lines } = linesOf(inboxWith({ question: permission({ input }) }), columns);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  });

  test('keeps the answers on a small screen, with a note about the omission', () => {
    const input = { command: Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n') };
    const inbox = inboxWith({ question: permission({ input }) });
    inbox.focus();
    const { lines } = linesOf(inbox, 80, 12);
    expect(lines).toHaveLength(12);
    expect(lines.slice(3, 7)).toEqual([
      '  Not all of it is shown: v shows it. If in doubt, deny.',
      '  risk: medium, it changes the workspace',
      '  reason: No rule allows it.',
      '  rule: Bash(npm test)',
    ]);
    expect(lines.slice(7, 11).map((line) => line.slice(0, 3))).toEqual([
      '❯ o',
      '  s',
      '  p',
      '  d',
    ]);
  });

  test('shows both ends of a long input and all facts in 80 columns and 21 rows', () => {
    const content = Array.from({ length: 3_000 }, (_, at) => `line ${at}`).join('\n');
    const input = { file_path: 'a.ts', content };
    const inbox = inboxWith({ question: permission({ tool: 'Write', input, risk: 'high' }) });
    inbox.focus();
    const { lines } = linesOf(inbox, 80, 21);
    expect(lines).toHaveLength(21);
    expect(lines.slice(2, 16)).toEqual([
      '  | file: a.ts',
      '  | + line 0',
      '  | + line 1',
      '  | + line 2',
      '  | + line 3',
      '  | (2992 lines are not shown here)',
      '  | + line 2996',
      '  | + line 2997',
      '  | + line 2998',
      '  | + line 2999',
      '  Not all of it is shown: v shows it. If in doubt, deny.',
      '  risk: high, it may leave the workspace, read secrets or be hard to undo',
      '  reason: No rule allows it.',
      '  rule: Bash(npm test)',
    ]);
  });

  test('puts the answers into a single row before it omits facts', () => {
    const input = { command: `rm -rf build${' x'.repeat(500)}` };
    const inbox = inboxWith({ question: permission({ input, risk: 'high' }) });
    inbox.focus();
    expect(linesOf(inbox, 60, 9).lines.slice(1)).toEqual([
      'Agent explorer a_1 asks to use Bash.',
      `  | command: rm -rf build${' x'.repeat(17)}`,
      '  Not all of it is shown: v shows it. If in doubt, deny.',
      '  risk: high, it may leave the workspace, read secrets or…',
      '  reason: No rule allows it.',
      '  rule: Bash(npm test)',
      '❯ once   session   project   deny',
      '  o s p d · Enter confirms · v all · Esc later',
    ]);
  });

  test('keeps the risk and the note about the omission on the smallest screen', () => {
    const input = { command: 'x\n'.repeat(30) };
    const inbox = inboxWith({ question: permission({ input, risk: 'high' }) });
    inbox.focus();
    expect(linesOf(inbox, 60, 5).lines.slice(1, 3)).toEqual([
      '  Not all of it is shown: v shows it. If in doubt, deny.',
      '  risk: high, it may leave the workspace, read secrets or…',
    ]);
  });

  test.each([
    [60, 6],
    [40, 5],
  ])('shows all answers and the reason in %i columns and %i rows', (columns, rows) => {
    let now = 0;
    const inbox = new QuestionInbox({ showFull: () => {}, now: () => now });
    const question = permission();
    inbox.add({ kind: 'permission', question, id: 'q', asker: 'X', askedAt: 0, answer: () => {} });
    inbox.focus();
    now = 1_000;
    const chosen = linesOf(inbox, columns, rows).lines;
    expect(chosen.length).toBeLessThanOrEqual(rows);
    expect(chosen).toContain('❯ once   session   project   deny');
    for (const name of ['d', 'return', ...'because it is so'.split('')]) {
      inbox.press({ name, sequence: name });
    }
    const { lines, cursor } = linesOf(inbox, columns, rows);
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(lines[cursor?.row ?? 0]).toContain('because it is so');
  });

  test('shows that the question is gone, and how to continue', () => {
    const inbox = inboxWith({}, { question: permission({ id: 'q_9' }) });
    inbox.focus();
    inbox.remove('q_1');
    expect(linesOf(inbox).lines).toEqual([
      '? That question was answered elsewhere, or was withdrawn.',
      '  Tab continues to 1 more question, Esc goes back; other keys are ignored',
    ]);
  });

  test('has no lines without a question', () => {
    expect(linesOf(inboxWith()).lines).toEqual([]);
  });
});
