/** TodoWrite: replaces the agent's to-do list. */
import { z } from 'zod';
import { MAX_TODO_LENGTH, MAX_TODOS, type Todo, todo } from '../../protocol/agent/todo.js';
import { defineTool, ToolFailure } from '../../protocol/tools/tool.js';

const PROMPT = `Saves your to-do list, which the user can see.

- For work of three steps or more, or when the user names several things; not for a single small step.
- Every call replaces the whole list: send all items, also completed items. An empty list clears it. At most ${MAX_TODOS} items of ${MAX_TODO_LENGTH} characters.
- Exactly one item is in_progress while you work. Mark it before you start, and completed as soon as it is really done: failing tests or an open question leave it in_progress.`;

export const writeTodos = defineTool({
  name: 'TodoWrite',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    todos: z.array(todo).max(MAX_TODOS).describe('The whole list, in order.'),
  }),
  describe: ({ todos }) => `TodoWrite ${countsOf(todos)}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'block',
  async call({ todos }) {
    refuseAmbiguous(todos);
    return {
      content: `The list is saved: ${countsOf(todos)}.`,
      notes: [{ type: 'todos.written', todos }],
      facts: { items: todos.length, completed: count(todos, 'completed') },
    };
  },
});

const refuseAmbiguous = (todos: readonly Todo[]) => {
  if (count(todos, 'in_progress') > 1) {
    throw new ToolFailure(
      'More than one item is in_progress, so the list was not changed. Leave only the item that you work on now, and send the list again.',
    );
  }
  const ids = todos.flatMap(({ id }) => id ?? []);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) {
    throw new ToolFailure(
      `Two items have the id "${twice}", so the list was not changed. Give each its own, or none.`,
    );
  }
};

const count = (todos: readonly Todo[], status: Todo['status']) =>
  todos.filter((item) => item.status === status).length;

const countsOf = (todos: readonly Todo[]): string =>
  `${count(todos, 'completed')} completed, ${count(todos, 'in_progress')} in progress, ${count(todos, 'pending')} pending`;
