import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { openFullQuestion } from '../../../src/ui/inbox/open-full-question.js';
import { type InboxEntry, QuestionInbox } from '../../../src/ui/inbox/question-inbox.js';
import { SceneStack } from '../../../src/ui/screen/scene-stack.js';
import { Screen } from '../../../src/ui/screen/screen.js';
import { paperMachine } from '../../fakes/terminal/recording-host.js';
import { choice, permission } from './questions.js';

const setUp = (...entries: readonly Partial<InboxEntry>[]) => {
  let now = 0;
  const machine = paperMachine(60, 14);
  const screen = new Screen(machine, () => {});
  const scenes = new SceneStack(screen);
  const answers: string[] = [];
  const inbox: QuestionInbox = new QuestionInbox({
    showFull: (entry) =>
      openFullQuestion(entry, { inbox, scenes, paint: paintFor(false), size: screen.size }),
    now: () => now,
  });
  for (const entry of entries) {
    const question = entry.question ?? permission();
    const base = { kind: 'permission', question, id: question.id, asker: 'X', askedAt: 0 };
    inbox.add({ ...base, answer: () => answers.push(question.id), ...entry } as InboxEntry);
  }
  inbox.focus();
  const wait = () => {
    now += 1_000;
  };
  wait();
  return { inbox, scenes, answers, paper: machine.paper, wait };
};

describe('a question that is shown as a whole', () => {
  test('goes with the question, and what is pressed then answers no other', () => {
    const other = { question: permission({ id: 'q_9' }) };
    const { inbox, scenes, answers, paper, wait } = setUp({}, other);
    inbox.press({ name: 'v' });
    expect(paper.screen().join('\n')).toContain('command: npm test');
    wait();
    inbox.remove('q_1');
    expect(scenes.isEmpty).toBe(true);
    inbox.press({ name: 'return' });
    wait();
    inbox.press({ name: 'return' });
    expect(answers).toEqual([]);
  });

  test('is closed, and the next key confirms nothing', () => {
    const { inbox, scenes, answers, wait } = setUp({});
    inbox.press({ name: 'v' });
    wait();
    scenes.press({ name: 'q' });
    inbox.press({ name: 'return' });
    expect(answers).toEqual([]);
  });

  test('has all that an agent wants to know, with its options', () => {
    const question = choice({
      question: Array.from({ length: 9 }, (_, at) => `row ${at}`).join('\n'),
    });
    const { inbox, paper } = setUp({ kind: 'choice', question });
    inbox.press({ name: 'v' });
    expect(paper.screen().join('\n')).toContain('row 8');
  });
});
