/** Replaces the agent's list of things to do. */
import { z } from 'zod';
import { LONGEST_TODO, MOST_TODOS, type Todo, todo } from '../../protocol/agent/todos.js';
import { defineTool, ToolFailure } from '../../protocol/tools/tool.js';

const PROMPT = `Keeps your list of things to do, which the user can see.

- For work of three steps or more, or when the user names several things; not for a single small step.
- Every call replaces the whole list: send all items, also those that are done. An empty list clears it. At most ${MOST_TODOS} items of ${LONGEST_TODO} characters.
- Exactly one item is in_progress while you work. Mark it before you begin, and completed as soon as it is really done: failing tests or an open question leave it in_progress.`;

export const writeTodos = defineTool({
  name: 'TodoWrite',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    todos: z.array(todo).max(MOST_TODOS).describe('The whole list, in order.'),
  }),
  describe: ({ todos }) => `TodoWrite ${countsOf(todos)}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'block',
  async call({ todos }) {
    refuseAmbiguous(todos);
    return {
      content: `The list is kept: ${countsOf(todos)}.`,
      notes: [{ type: 'todos.written', todos }],
      facts: { items: todos.length, completed: count(todos, 'completed') },
    };
  },
});

const refuseAmbiguous = (todos: readonly Todo[]) => {
  if (count(todos, 'in_progress') > 1) {
    throw new ToolFailure(
      'More than one item is in_progress, so the list was not changed. Leave only the one that you work on now, and send the list again.',
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
