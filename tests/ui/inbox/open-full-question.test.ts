import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { openFullQuestion } from '../../../src/ui/inbox/open-full-question.js';
import { type InboxEntry, QuestionInbox } from '../../../src/ui/inbox/question-inbox.js';
import { SceneStack } from '../../../src/ui/screen/scene-stack.js';
import { Screen } from '../../../src/ui/screen/screen.js';
import { recordingHost } from '../../fakes/terminal/recording-host.js';
import { choice, permission } from './questions.js';

const setUp = (...entries: readonly Partial<InboxEntry>[]) => {
  let now = 0;
  const host = recordingHost(60, 14);
  const screen = new Screen(host, () => {});
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
  return { inbox, scenes, answers, terminal: host.terminal, wait };
};

describe('the full view of a question', () => {
  test('closes with its question, and the next keys answer no other question', () => {
    const second = { question: permission({ id: 'q_9' }) };
    const { inbox, scenes, answers, terminal, wait } = setUp({}, second);
    inbox.press({ name: 'v' });
    expect(terminal.screen().join('\n')).toContain('command: npm test');
    wait();
    inbox.remove('q_1');
    expect(scenes.isEmpty).toBe(true);
    inbox.press({ name: 'return' });
    wait();
    inbox.press({ name: 'return' });
    expect(answers).toEqual([]);
  });

  test('can be closed, and the next key does not confirm the question', () => {
    const { inbox, scenes, answers, wait } = setUp({});
    inbox.press({ name: 'v' });
    wait();
    scenes.press({ name: 'q' });
    inbox.press({ name: 'return' });
    expect(answers).toEqual([]);
  });

  test('shows the complete text of a choice', () => {
    const question = choice({
      question: Array.from({ length: 9 }, (_, at) => `row ${at}`).join('\n'),
    });
    const { inbox, terminal } = setUp({ kind: 'choice', question });
    inbox.press({ name: 'v' });
    expect(terminal.screen().join('\n')).toContain('row 8');
  });
});
