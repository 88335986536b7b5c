/** TaskList: lists the tasks that all agents of a session share. */
import { z } from 'zod';
import { defineTool } from '../../protocol/tools/tool.js';
import { taskListOf, taskListText } from './task-text.js';

const PROMPT = `Lists the shared tasks: status, owner, and blocking tasks.`;

export const listTasks = defineTool({
  name: 'TaskList',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({}),
  describe: () => 'TaskList',
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  polls: () => true,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'block',
  async call(_, context) {
    const all = await taskListOf(context).list();
    return { content: taskListText(all), facts: { items: all.length } };
  },
});
