import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GRACE_MS } from '../../../src/terminal/terminal.js';
import { type InboxEntry, QuestionInbox } from '../../../src/ui/inbox/question-inbox.js';
import { choice, permission } from './questions.js';

const setUp = (...entries: readonly Partial<InboxEntry>[]) => {
  let now = 0;
  const answers: unknown[] = [];
  const shownInFull: string[] = [];
  const inbox = new QuestionInbox({ showFull: ({ id }) => shownInFull.push(id), now: () => now });
  for (const entry of entries) {
    const question = entry.question ?? permission();
    inbox.add({
      kind: 'permission',
      question,
      id: question.id,
      asker: 'The lead',
      askedAt: 0,
      answer: (answer: unknown) => answers.push([question.id, answer]),
      ...entry,
    } as InboxEntry);
  }
  const press = (...names: readonly string[]) => {
    for (const name of names) inbox.press({ name, sequence: name.length === 1 ? name : '' });
  };
  const type = (text: string) => press(...text.split(''));
  const wait = () => {
    now += 1_000;
  };
  const pass = (ms: number) => {
    now += ms;
  };
  const focusAndWait = () => {
    inbox.focus();
    wait();
  };
  return { inbox, answers, shownInFull, press, type, focusAndWait, wait, pass };
};

const second = { question: permission({ id: 'q_9', tool: 'Write' }) };
const choiceEntry = (question = choice()) => ({ kind: 'choice', question }) as const;

describe('the question inbox', () => {
  test('receives no keys before it has the focus', () => {
    const { inbox } = setUp({});
    expect(inbox.isFocused).toBe(false);
    expect(inbox.shown?.id).toBe('q_1');
    inbox.focus();
    expect(inbox.isFocused).toBe(true);
  });

  test.each([
    ['once', ['return'], { behavior: 'allow', scope: 'once' }],
    ['session', ['s', 'return'], { behavior: 'allow', scope: 'session' }],
    ['project', ['down', 'down', 'return'], { behavior: 'allow', scope: 'project' }],
  ])('allows %s after a confirmation', (_, keys, answer) => {
    const { answers, press, focusAndWait, inbox } = setUp({});
    focusAndWait();
    press(...keys);
    expect(answers).toEqual([['q_1', answer]]);
    expect(inbox.entries).toEqual([]);
    expect(inbox.isFocused).toBe(false);
  });

  test('denies with a reason', () => {
    const { answers, press, type, focusAndWait } = setUp({});
    focusAndWait();
    press('d', 'return');
    expect(answers).toEqual([]);
    type('use make');
    press('return');
    expect(answers).toEqual([
      ['q_1', { behavior: 'deny', reason: 'The user denied this call. Reason: use make' }],
    ]);
  });

  test('returns to the answers if the reason is cancelled', () => {
    const { answers, press, focusAndWait, wait, inbox } = setUp({});
    focusAndWait();
    press('d', 'return', 'x', 'escape');
    expect(inbox.answerEditor).toBeUndefined();
    wait();
    press('o', 'return');
    expect(answers).toEqual([['q_1', { behavior: 'allow', scope: 'once' }]]);
  });

  test('ignores keys that arrive too soon after the focus', () => {
    const { inbox, answers, press, wait } = setUp({});
    inbox.focus();
    press('return');
    expect(answers).toEqual([]);
    wait();
    press('return');
    expect(answers).toHaveLength(1);
  });

  test('ignores keys for the next question right after an answer', () => {
    const { answers, press, focusAndWait, wait } = setUp({}, second);
    focusAndWait();
    press('return', 'return');
    expect(answers).toEqual([['q_1', { behavior: 'allow', scope: 'once' }]]);
    wait();
    press('return');
    expect(answers).toHaveLength(2);
  });

  test('ignores a key that is held down', () => {
    const { inbox, answers, press, pass } = setUp({}, second);
    inbox.focus();
    for (let at = 0; at < 100; at += 1) {
      press('return');
      pass(30);
    }
    expect(answers).toEqual([]);
  });

  test('ignores a word that is typed by mistake', () => {
    const { answers, type, press, focusAndWait, inbox } = setUp({});
    focusAndWait();
    type('stop');
    press('return');
    expect(answers).toEqual([]);
    expect(inbox.entries).toHaveLength(1);
  });

  test.each(['no', 'deny', 'never', 'D', 'N'])('denies for %j, typed at any speed', (word) => {
    for (const pace of [0, 150, GRACE_MS, 1_000]) {
      const { answers, press, type, focusAndWait, pass } = setUp({});
      focusAndWait();
      for (const letter of word.split('')) {
        type(letter);
        pass(pace);
      }
      press('return');
      expect(answers).toEqual([]);
      type('use make');
      press('return');
      expect(answers).toMatchObject([['q_1', { behavior: 'deny' }]]);
    }
  });

  test('cancels a denial with an arrow key or Esc', () => {
    for (const keys of [['up'], ['escape']]) {
      const { inbox, answers, press, focusAndWait, wait } = setUp({});
      focusAndWait();
      press('d');
      wait();
      press('s', ...keys);
      inbox.focus();
      wait();
      press('s', 'return');
      expect(answers).toEqual([['q_1', { behavior: 'allow', scope: 'session' }]]);
    }
  });

  test('selects no answer after an unknown letter, until an arrow key is pressed', () => {
    const { inbox, answers, press, focusAndWait, wait } = setUp({});
    focusAndWait();
    press('y');
    expect(inbox.choice).toBeUndefined();
    for (let at = 0; at < 3; at += 1) {
      wait();
      press('return');
    }
    expect(answers).toEqual([]);
    press('down');
    expect(inbox.choice).toBe(0);
    press('x', 'up');
    expect(inbox.choice).toBe(3);
  });

  test('never allows a call for a word typed without a pause, even with a late Enter', () => {
    const letters = fc.string({
      unit: fc.constantFrom(...'onspdeyvOSPx \n'.split('')),
      minLength: 1,
    });
    const pace = fc.integer({ min: 0, max: GRACE_MS - 1 });
    fc.assert(
      fc.property(letters, pace, fc.integer({ min: 0, max: 5_000 }), (words, ms, pause) => {
        fc.pre(!/^[osp]?(?:\n|$)/i.test(words));
        const { answers, shownInFull, press, focusAndWait, pass } = setUp({});
        const pressHere = (key: string) => {
          // An open pager receives all later keys.
          if (shownInFull.length === 0) press(key === '\n' ? 'return' : key);
        };
        focusAndWait();
        for (const [at, key] of words.split('').entries()) {
          if (at > 0) pass(ms);
          pressHere(key);
        }
        pass(pause);
        pressHere('\n');
        expect(answers.flat()).not.toContainEqual(expect.objectContaining({ behavior: 'allow' }));
      }),
    );
  });

  test('sends no choice to an agent for a word that is typed by mistake', () => {
    const { answers, type, press, focusAndWait, wait } = setUp(choiceEntry());
    focusAndWait();
    type('neither');
    wait();
    press('return');
    expect(answers).toEqual([]);
  });

  test('ignores Enter right after a switch to another question', () => {
    const { answers, press, focusAndWait } = setUp({}, second);
    focusAndWait();
    press('tab', 'return');
    expect(answers).toEqual([]);
  });

  test('counts as seen only after a delay', () => {
    const { inbox, wait } = setUp({});
    expect(inbox.isSeen).toBe(false);
    wait();
    expect(inbox.isSeen).toBe(true);
  });

  test('offers only once for a call without a rule to grant', () => {
    const { grant: _, ...question } = permission();
    const { answers, press, focusAndWait, wait } = setUp({ question });
    focusAndWait();
    press('s');
    wait();
    press('return');
    expect(answers).toEqual([]);
    wait();
    press('o', 'return');
    expect(answers).toEqual([['q_1', { behavior: 'allow', scope: 'once' }]]);
  });

  test('ignores keys typed for a question that was answered elsewhere', () => {
    const { inbox, answers, press, type, focusAndWait, wait } = setUp({}, second);
    focusAndWait();
    press('d', 'return');
    type('no, that');
    inbox.remove('q_1');
    expect(inbox.isQuestionGone).toBe(true);
    wait();
    type(' would p');
    press('return');
    wait();
    press('return');
    expect(answers).toEqual([]);
    press('tab');
    expect(inbox.shown?.id).toBe('q_9');
    wait();
    press('return');
    expect(answers).toEqual([['q_9', { behavior: 'allow', scope: 'once' }]]);
  });

  test('keeps the focus until Esc after its last question is withdrawn', () => {
    const { inbox, press, type, focusAndWait } = setUp({});
    focusAndWait();
    press('d', 'return');
    inbox.remove('q_1');
    type('later');
    press('return');
    expect(inbox.isFocused).toBe(true);
    press('escape');
    expect(inbox.isFocused).toBe(false);
  });

  test('removes a withdrawn question at once if it has no focus', () => {
    const { inbox } = setUp({}, second);
    inbox.remove('q_1');
    expect(inbox.isQuestionGone).toBe(false);
    expect(inbox.shown?.id).toBe('q_9');
  });

  test('moves to the next question and back', () => {
    const { inbox, press, focusAndWait } = setUp({}, second);
    focusAndWait();
    press('tab');
    expect(inbox.shown?.id).toBe('q_9');
    press('left');
    expect(inbox.shown?.id).toBe('q_1');
  });

  test('loses the focus with Esc and keeps the question', () => {
    const { inbox, press, focusAndWait } = setUp({});
    focusAndWait();
    press('escape');
    expect(inbox.isFocused).toBe(false);
    expect(inbox.entries).toHaveLength(1);
  });

  test('shows the full question with v', () => {
    const { shownInFull, press, focusAndWait } = setUp({});
    focusAndWait();
    press('v');
    expect(shownInFull).toEqual(['q_1']);
  });

  test('answers a choice by number', () => {
    const { answers, press, focusAndWait } = setUp(choiceEntry());
    focusAndWait();
    press('2', 'return');
    expect(answers).toEqual([['q_2', { chosen: ['green'] }]]);
  });

  test('selects several options of a multiple choice', () => {
    const { answers, press, focusAndWait } = setUp(choiceEntry(choice({ multiple: true })));
    focusAndWait();
    press('space', 'down', 'space', 'return');
    expect(answers).toEqual([['q_2', { chosen: ['red', 'green'] }]]);
  });

  test('accepts free text as an answer, but no empty text', () => {
    const { answers, press, type, focusAndWait } = setUp(choiceEntry());
    focusAndWait();
    press('3', 'return', 'return');
    expect(answers).toEqual([]);
    type('blue');
    press('return');
    expect(answers).toEqual([['q_2', { chosen: [], text: 'blue' }]]);
  });
});
