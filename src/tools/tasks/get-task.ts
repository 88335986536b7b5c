/** TaskGet: shows a task of the shared list in full. */
import { z } from 'zod';
import { unknownTask } from '../../protocol/session/shared-task-list.js';
import { defineTool, ToolFailure } from '../../protocol/tools/tool.js';
import { normalizeTaskId, shownTaskId, taskListOf, taskText } from './task-text.js';

const PROMPT = `Shows a shared task in full.`;

export const getTask = defineTool({
  name: 'TaskGet',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    taskId: z.string().min(1).max(100).describe('Its number.'),
  }),
  describe: ({ taskId }) => `TaskGet ${shownTaskId(taskId)}`,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  polls: () => true,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'block',
  async call({ taskId }, context) {
    const all = await taskListOf(context).list();
    const id = normalizeTaskId(taskId);
    const item = all.find((task) => task.id === id);
    if (item === undefined) {
      throw new ToolFailure(
        unknownTask(
          all.map((task) => task.id),
          id,
        ),
      );
    }
    return { content: taskText(item, all), facts: { task: id, status: item.status } };
  },
});
