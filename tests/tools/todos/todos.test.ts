import { describe, expect, test } from 'vitest';
import type { Todo } from '../../../src/protocol/agent/todo.js';
import { readTodos } from '../../../src/tools/todos/read-todos.js';
import { writeTodos } from '../../../src/tools/todos/write-todos.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { toolContext } from '../tool-context.js';

const setUp = () => {
  const context = toolContext(memoryWorkspace());
  return {
    write: async (todos: Todo[]) => context.applyNotes(await writeTodos.call({ todos }, context)),
    read: async () => (await readTodos.call({}, context)).content,
  };
};

const item = (content: string, status: Todo['status'] = 'pending'): Todo => ({ content, status });

describe('the todo list', () => {
  test('is empty at first', async () => {
    expect(await setUp().read()).toBe('The list is empty.');
  });

  test('is read as written, in order', async () => {
    const { write, read } = setUp();
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

  test('is replaced completely, and cleared by an empty list', async () => {
    const { write, read } = setUp();
    await write([item('a'), item('b')]);
    await write([item('c')]);
    expect(await read()).toBe('1. [pending] c');
    await write([]);
    expect(await read()).toBe('The list is empty.');
  });

  test.each([
    [
      'two items in progress',
      [item('a', 'in_progress'), item('b', 'in_progress')],
      'More than one',
    ],
    [
      'a repeated id',
      [
        { ...item('a'), id: '1' },
        { ...item('b'), id: '1' },
      ],
      'the id "1"',
    ],
  ])('is unchanged if the new list has %s', async (_, todos, reason) => {
    const { write, read } = setUp();
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
    ['an unknown status', [{ content: 'x', status: 'blocked' }], false],
    ['an unknown key', [{ ...item('x'), priority: 1 }], false],
    ['a text instead of a list', 'x', false],
  ])('with %s is validated', (_, todos, success) => {
    expect(writeTodos.input.safeParse({ todos }).success).toBe(success);
  });
});
