import { describe, expect, test } from 'vitest';
import type { PersonAnswer } from '../../../src/protocol/permission/permission-question.js';
import { type AskPerson, ToolFailure } from '../../../src/protocol/tools/tool.js';
import { askUser } from '../../../src/tools/dialog/ask-user.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { toolContext } from '../tool-context.js';

const QUESTION = { question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }] };

const ask = async (answer: PersonAnswer, multiple?: boolean) => {
  const asked: unknown[] = [];
  const askPerson: AskPerson = async (question) => {
    asked.push(question);
    return answer;
  };
  const context = { ...toolContext(memoryWorkspace()), askPerson };
  const outcome = await askUser.call({ ...QUESTION, multiple }, context);
  return { ...outcome, asked };
};

describe('AskUser', () => {
  test('asks the given question and returns the choice', async () => {
    const { content, asked, facts } = await ask({ chosen: ['Blue'] });
    expect(asked).toEqual([{ ...QUESTION, multiple: false }]);
    expect(content).toBe('The user chose: Blue');
    expect(facts).toEqual({ asked: 'surface', chosen: 1, ownWords: false });
  });

  test('accepts several choices if allowed, each once', async () => {
    const { content } = await ask({ chosen: ['Red', 'Blue', 'Red'] }, true);
    expect(content).toBe('The user chose: Red; Blue');
  });

  test('accepts a text answer, with or without a choice', async () => {
    expect((await ask({ chosen: [], text: 'Green.' })).content).toBe('The user said: Green.');
    expect((await ask({ chosen: ['Red'], text: 'Dark.' })).content).toBe(
      'The user chose: Red\nThe user said: Dark.',
    );
  });

  test('cuts a long answer, with a note', async () => {
    const { content } = await ask({ chosen: [], text: 'x'.repeat(30_000) });
    expect(content.length).toBeLessThan(20_100);
    expect(content).toContain('cut after 20000 characters');
  });

  test.each<[string, PersonAnswer]>([
    ['no option was chosen', { chosen: [], text: '  ' }],
    ['an unknown option was chosen', { chosen: ['Green'] }],
    ['two options were chosen in a single choice', { chosen: ['Red', 'Blue'] }],
  ])('leaves the decision to the model if %s', async (_, answer) => {
    await expect(ask(answer)).rejects.toThrow('say in your answer what you assumed');
  });

  test('leaves the decision to the model without a surface', async () => {
    const asking = askUser.call(QUESTION, toolContext(memoryWorkspace()));
    await expect(asking).rejects.toThrow(ToolFailure);
    await expect(asking).rejects.toThrow('The user cannot answer questions in this run. Decide it');
  });

  const options = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ label: `${index}` }));

  test.each([
    ['a single option', { ...QUESTION, options: options(1) }, false],
    ['eight options', { ...QUESTION, options: options(8) }, true],
    ['nine options', { ...QUESTION, options: options(9) }, false],
    ['a repeated label', { ...QUESTION, options: [{ label: 'a' }, { label: 'a' }] }, false],
    ['an empty label', { ...QUESTION, options: [{ label: ' ' }, { label: 'a' }] }, false],
    ['an empty question', { ...QUESTION, question: '\n' }, false],
    ['a too long question', { ...QUESTION, question: 'x'.repeat(4_001) }, false],
  ])('validates %s', (_, input, success) => {
    expect(askUser.input.safeParse(input).success).toBe(success);
  });

  test('is described on a single line', () => {
    expect(askUser.describe({ ...QUESTION, question: 'Which\n  one?' })).toBe('AskUser Which one?');
  });
});
