import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { InboxScene } from '../../../src/ui/inbox/inbox-scene.js';
import { QuestionInbox } from '../../../src/ui/inbox/question-inbox.js';
import { laidOut } from '../../fakes/terminal/laid-out.js';
import { permission } from './questions.js';

const setUp = (count: number) => {
  let left = 0;
  let now = 0;
  const inbox = new QuestionInbox({ showFull: () => {}, now: () => now });
  const answers: string[] = [];
  for (let at = 1; at <= count; at += 1) {
    const question = permission({ id: `q_${at}`, description: `Bash task ${at}` });
    inbox.add({
      kind: 'permission',
      id: question.id,
      question,
      asker: `agent ${at}`,
      askedAt: Date.now(),
      answer: () => answers.push(question.id),
    });
  }
  const scene = new InboxScene({
    inbox,
    paint: paintFor(false),
    sign: '❯',
    notice: () => '',
    leave: () => {
      left += 1;
    },
  });
  now = 1_000;
  const draw = (columns = 80, rows = 30) => laidOut(scene.draw({ columns, rows }), columns, rows);
  const press = (...names: string[]) => {
    for (const name of names) scene.press({ name, sequence: name });
  };
  const wait = () => {
    now += 1_000;
  };
  return { scene, inbox, draw, press, wait, answers, left: () => left };
};

describe('the inbox scene', () => {
  test('lists all questions and shows the selected question with its answers', () => {
    const { draw } = setUp(2);
    const lines = draw();
    expect(lines[0]).toBe('2 questions waiting');
    expect(lines[1]).toMatch(/^❯ +\ds {2}agent 1: Bash task 1$/);
    expect(lines[2]).toMatch(/^ {2} +\ds {2}agent 2: Bash task 2$/);
    expect(lines).toContain('❯ o  once: this call and no other');
    expect(lines).toHaveLength(30);
  });

  test('answers the selected question and keeps the other questions', () => {
    const { press, answers, draw, wait } = setUp(3);
    press('tab');
    wait();
    press('return');
    expect(answers).toEqual(['q_2']);
    expect(draw()[0]).toBe('2 questions waiting');
  });

  test('stays open while keys are typed for a question that is gone', () => {
    const { press, inbox, left } = setUp(2);
    press('d', 'return');
    inbox.remove('q_1');
    press('i', 'q', 'x', 'return');
    expect(left()).toBe(0);
    press('tab', 'q');
    expect(left()).toBe(1);
  });

  test('closes with Esc but not with a letter after its last question is withdrawn', () => {
    const { press, inbox, left, draw } = setUp(1);
    inbox.remove('q_1');
    expect(draw().at(-1)).toBe('Esc back');
    press('q', 'i', 'return');
    expect(left()).toBe(0);
    press('escape');
    expect([left(), inbox.isQuestionGone]).toEqual([1, false]);
  });

  test('returns to the list with Esc after the shown question is withdrawn', () => {
    const { press, inbox, left, draw } = setUp(2);
    inbox.remove('q_1');
    expect(draw().at(-1)).toBe('Tab the next · Esc the list');
    press('escape');
    expect([left(), inbox.isQuestionGone]).toEqual([0, false]);
    expect(draw().at(-1)).toBe('Tab the next · q back');
    press('q');
    expect(left()).toBe(1);
  });

  test('closes with q, except while a reason is typed', () => {
    const { press, left } = setUp(1);
    press('d', 'return', 'q');
    expect(left()).toBe(0);
    press('escape', 'q');
    expect(left()).toBe(1);
  });

  test.each([
    [60, 12],
    [80, 24],
    [250, 60],
  ])('fits 200 questions into %i columns and %i rows', (columns, rows) => {
    const { draw, press } = setUp(200);
    press('tab', 'tab');
    const lines = draw(columns, rows);
    expect(lines).toHaveLength(rows);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  });
});
