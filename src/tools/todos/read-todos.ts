/** TodoRead: shows the agent its to-do list. */
import { z } from 'zod';
import type { Todo } from '../../protocol/agent/todo.js';
import { defineTool } from '../../protocol/tools/tool.js';

const PROMPT = `Shows your to-do list, as TodoWrite last saved it: it survives a shortened conversation.`;

export const readTodos = defineTool({
  name: 'TodoRead',
  kind: 'builtin',
  prompt: PROMPT,
  mentions: [{ of: ['TodoWrite'], text: ', as TodoWrite last saved it', instead: '' }],
  input: z.strictObject({}),
  describe: () => 'TodoRead',
  isReadOnly: () => true,
  polls: () => true,
  isConcurrencySafe: () => true,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'block',
  async call(_, { todos }) {
    const content = todos.length === 0 ? 'The list is empty.' : todos.map(lineOf).join('\n');
    return { content, facts: { items: todos.length } };
  },
});

const lineOf = ({ content, status, id }: Todo, index: number): string =>
  `${index + 1}. [${status}] ${content}${id === undefined ? '' : ` (id ${id})`}`;
