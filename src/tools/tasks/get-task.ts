/** Shows one task of the shared list in full. */
import { z } from 'zod';
import { unknownTask } from '../../protocol/session/task-list.js';
import { defineTool, ToolFailure } from '../../protocol/tools/tool.js';
import { idOf, itemText, shownId, workOf } from './task-text.js';

const PROMPT = `Shows a shared task in full.`;

export const getWork = defineTool({
  name: 'TaskGet',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    taskId: z.string().min(1).max(100).describe('Its number.'),
  }),
  describe: ({ taskId }) => `TaskGet ${shownId(taskId)}`,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  polls: () => true,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'block',
  async call({ taskId }, context) {
    const all = await workOf(context).list();
    const id = idOf(taskId);
    const item = all.find((each) => each.id === id);
    if (item === undefined) {
      throw new ToolFailure(
        unknownTask(
          all.map((each) => each.id),
          id,
        ),
      );
    }
    return { content: itemText(item, all), facts: { task: id, status: item.status } };
  },
});
