import { describe, expect, test } from 'vitest';
import type { Todo } from '../../../src/protocol/agent/todo.js';
import { readTodos } from '../../../src/tools/dialog/read-todos.js';
import { writeTodos } from '../../../src/tools/dialog/write-todos.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { toolContext } from '../tool-context.js';

const notebook = () => {
  const context = toolContext(memoryWorkspace());
  return {
    write: async (todos: Todo[]) => context.learn(await writeTodos.call({ todos }, context)),
    read: async () => (await readTodos.call({}, context)).content,
  };
};

const item = (content: string, status: Todo['status'] = 'pending'): Todo => ({ content, status });

describe('the list of things to do', () => {
  test('is empty at first', async () => {
    expect(await notebook().read()).toBe('The list is empty.');
  });

  test('is read as it was written, in its order', async () => {
    const { write, read } = notebook();
    const { content } = await write([
      item('Look', 'completed'),
      { ...item('Change', 'in_progress'), activeForm: 'Changing', id: 'x' },
      item('Test'),
    ]);
    expect(content).toBe('The list is saved: 1 completed, 1 in progress, 1 pending.');
    expect(await read()).toBe(
      '1. [completed] Look\n2. [in_progress] Change (id x)\n3. [pending] Test',
    );
  });

  test('is replaced as a whole, and cleared by an empty one', async () => {
    const { write, read } = notebook();
    await write([item('a'), item('b')]);
    await write([item('c')]);
    expect(await read()).toBe('1. [pending] c');
    await write([]);
    expect(await read()).toBe('The list is empty.');
  });

  test.each([
    ['two items under way', [item('a', 'in_progress'), item('b', 'in_progress')], 'More than one'],
    [
      'one id twice',
      [
        { ...item('a'), id: '1' },
        { ...item('b'), id: '1' },
      ],
      'the id "1"',
    ],
  ])('stays as it is when it would have %s', async (_, todos, reason) => {
    const { write, read } = notebook();
    await write([item('kept')]);
    await expect(write(todos)).rejects.toThrow(reason);
    expect(await read()).toBe('1. [pending] kept');
  });

  test.each([
    ['an empty item', [item('  ')], false],
    ['an item of 1,000 characters', [item('x'.repeat(1_000))], true],
    ['an item of 1,001 characters', [item('x'.repeat(1_001))], false],
    ['200 items', Array.from({ length: 200 }, () => item('x')), true],
    ['201 items', Array.from({ length: 201 }, () => item('x')), false],
    ['a status of its own', [{ content: 'x', status: 'blocked' }], false],
    ['an unknown key', [{ ...item('x'), priority: 1 }], false],
    ['no list', 'x', false],
  ])('with %s is judged by its schema', (_, todos, success) => {
    expect(writeTodos.input.safeParse({ todos }).success).toBe(success);
  });
});
