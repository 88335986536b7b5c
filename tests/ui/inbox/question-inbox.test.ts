import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GRACE_MS } from '../../../src/terminal/terminal.js';
import { type InboxEntry, QuestionInbox } from '../../../src/ui/inbox/question-inbox.js';
import { choice, permission } from './questions.js';

const setUp = (...entries: readonly Partial<InboxEntry>[]) => {
  let now = 0;
  const answers: unknown[] = [];
  const whole: string[] = [];
  const inbox = new QuestionInbox({ showFull: ({ id }) => whole.push(id), now: () => now });
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
  const turn = () => {
    inbox.focus();
    wait();
  };
  return { inbox, answers, whole, press, type, turn, wait, pass };
};

const second = { question: permission({ id: 'q_9', tool: 'Write' }) };
const asks = (question = choice()) => ({ kind: 'choice', question }) as const;

describe('an inbox', () => {
  test('does not take the keys before somebody turns to it', () => {
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
  ])('allows %s when that is confirmed', (_, keys, answer) => {
    const { answers, press, turn, inbox } = setUp({});
    turn();
    press(...keys);
    expect(answers).toEqual([['q_1', answer]]);
    expect(inbox.entries).toEqual([]);
    expect(inbox.isFocused).toBe(false);
  });

  test('denies with a reason', () => {
    const { answers, press, type, turn } = setUp({});
    turn();
    press('d', 'return');
    expect(answers).toEqual([]);
    type('use make');
    press('return');
    expect(answers).toEqual([
      ['q_1', { behavior: 'deny', reason: 'The user denied this call. Reason: use make' }],
    ]);
  });

  test('goes back to the answers from a reason that is given up', () => {
    const { answers, press, turn, wait, inbox } = setUp({});
    turn();
    press('d', 'return', 'x', 'escape');
    expect(inbox.answerEditor).toBeUndefined();
    wait();
    press('o', 'return');
    expect(answers).toEqual([['q_1', { behavior: 'allow', scope: 'once' }]]);
  });

  test('takes no answer from keys that came too soon to be meant', () => {
    const { inbox, answers, press, wait } = setUp({});
    inbox.focus();
    press('return');
    expect(answers).toEqual([]);
    wait();
    press('return');
    expect(answers).toHaveLength(1);
  });

  test('takes no answer for the next question from keys that were meant for the last', () => {
    const { answers, press, turn, wait } = setUp({}, second);
    turn();
    press('return', 'return');
    expect(answers).toEqual([['q_1', { behavior: 'allow', scope: 'once' }]]);
    wait();
    press('return');
    expect(answers).toHaveLength(2);
  });

  test('takes nothing from a key that is held down', () => {
    const { inbox, answers, press, pass } = setUp({}, second);
    inbox.focus();
    for (let at = 0; at < 100; at += 1) {
      press('return');
      pass(30);
    }
    expect(answers).toEqual([]);
  });

  test('takes nothing from a word that is typed for something else', () => {
    const { answers, type, press, turn, inbox } = setUp({});
    turn();
    type('stop');
    press('return');
    expect(answers).toEqual([]);
    expect(inbox.entries).toHaveLength(1);
  });

  test.each(['no', 'deny', 'never', 'D', 'N'])('takes %j for a no, at any pace', (word) => {
    for (const pace of [0, 150, GRACE_MS, 1_000]) {
      const { answers, press, type, turn, pass } = setUp({});
      turn();
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

  test('takes a no back with an arrow, or with Esc', () => {
    for (const keys of [['up'], ['escape']]) {
      const { inbox, answers, press, turn, wait } = setUp({});
      turn();
      press('d');
      wait();
      press('s', ...keys);
      inbox.focus();
      wait();
      press('s', 'return');
      expect(answers).toEqual([['q_1', { behavior: 'allow', scope: 'session' }]]);
    }
  });

  test('has nothing chosen after letters that mean nothing, until something is chosen', () => {
    const { inbox, answers, press, turn, wait } = setUp({});
    turn();
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

  test('allows nothing for words that are typed in one go, whenever Enter comes after them', () => {
    const letters = fc.string({
      unit: fc.constantFrom(...'onspdeyvOSPx \n'.split('')),
      minLength: 1,
    });
    const pace = fc.integer({ min: 0, max: GRACE_MS - 1 });
    fc.assert(
      fc.property(letters, pace, fc.integer({ min: 0, max: 5_000 }), (words, ms, pause) => {
        fc.pre(!/^[osp]?(?:\n|$)/i.test(words));
        const { answers, whole, press, turn, pass } = setUp({});
        const pressHere = (key: string) => {
          // The pager has the keys from now on.
          if (whole.length === 0) press(key === '\n' ? 'return' : key);
        };
        turn();
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

  test('gives no answer to an agent for a word that is typed for something else', () => {
    const { answers, type, press, turn, wait } = setUp(asks());
    turn();
    type('neither');
    wait();
    press('return');
    expect(answers).toEqual([]);
  });

  test('takes no answer for a question that somebody has only just gone to', () => {
    const { answers, press, turn } = setUp({}, second);
    turn();
    press('tab', 'return');
    expect(answers).toEqual([]);
  });

  test('has been seen only after a moment', () => {
    const { inbox, wait } = setUp({});
    expect(inbox.isSeen).toBe(false);
    wait();
    expect(inbox.isSeen).toBe(true);
  });

  test('offers only once for what cannot be allowed for longer', () => {
    const { grant: _, ...question } = permission();
    const { answers, press, turn, wait } = setUp({ question });
    turn();
    press('s');
    wait();
    press('return');
    expect(answers).toEqual([]);
    wait();
    press('o', 'return');
    expect(answers).toEqual([['q_1', { behavior: 'allow', scope: 'once' }]]);
  });

  test('hears nothing that is typed on for a question that was answered elsewhere', () => {
    const { inbox, answers, press, type, turn, wait } = setUp({}, second);
    turn();
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

  test('keeps the keys from everybody else too when the last one went', () => {
    const { inbox, press, type, turn } = setUp({});
    turn();
    press('d', 'return');
    inbox.remove('q_1');
    type('later');
    press('return');
    expect(inbox.isFocused).toBe(true);
    press('escape');
    expect(inbox.isFocused).toBe(false);
  });

  test('lets a question go that nobody has turned to', () => {
    const { inbox } = setUp({}, second);
    inbox.remove('q_1');
    expect(inbox.isQuestionGone).toBe(false);
    expect(inbox.shown?.id).toBe('q_9');
  });

  test('goes from one question to the next and back', () => {
    const { inbox, press, turn } = setUp({}, second);
    turn();
    press('tab');
    expect(inbox.shown?.id).toBe('q_9');
    press('left');
    expect(inbox.shown?.id).toBe('q_1');
  });

  test('is left with Esc, and the question stays', () => {
    const { inbox, press, turn } = setUp({});
    turn();
    press('escape');
    expect(inbox.isFocused).toBe(false);
    expect(inbox.entries).toHaveLength(1);
  });

  test('shows all of what a question is about', () => {
    const { whole, press, turn } = setUp({});
    turn();
    press('v');
    expect(whole).toEqual(['q_1']);
  });

  test('answers a question of an agent by number', () => {
    const { answers, press, turn } = setUp(asks());
    turn();
    press('2', 'return');
    expect(answers).toEqual([['q_2', { chosen: ['green'] }]]);
  });

  test('ticks several answers where several may be given', () => {
    const { answers, press, turn } = setUp(asks(choice({ multiple: true })));
    turn();
    press('space', 'down', 'space', 'return');
    expect(answers).toEqual([['q_2', { chosen: ['red', 'green'] }]]);
  });

  test('answers in words of the person, and not with nothing', () => {
    const { answers, press, type, turn } = setUp(asks());
    turn();
    press('3', 'return', 'return');
    expect(answers).toEqual([]);
    type('blue');
    press('return');
    expect(answers).toEqual([['q_2', { chosen: [], text: 'blue' }]]);
  });
});
