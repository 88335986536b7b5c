/**
 * TaskUpdate: claims, releases, assigns, completes, blocks or deletes a task of the shared list.
 */
import { z } from 'zod';
import {
  MAX_BLOCKERS,
  MAX_DESCRIPTION_LENGTH,
  MAX_OWNER_LENGTH,
  MAX_SUBJECT_LENGTH,
  TASK_STATUSES,
} from '../../protocol/session/shared-task-list.js';
import { defineTool, ToolFailure } from '../../protocol/tools/tool.js';
import { normalizeTaskId, shownTaskId, taskListOf, taskState, unlessRefused } from './task-text.js';

const PROMPT = `Changes a shared task. in_progress claims it, unless another agent was faster; pending releases it; completed means really done; deleted removes it.`;

const MAX_ID_LENGTH = 100;

const text = (maxLength: number) => z.string().regex(/\S/, 'must not be empty').max(maxLength);
const ids = (description: string) =>
  z.array(z.string().min(1).max(MAX_ID_LENGTH)).max(MAX_BLOCKERS).optional().describe(description);

export const updateTask = defineTool({
  name: 'TaskUpdate',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    taskId: z.string().min(1).max(MAX_ID_LENGTH).describe('Its number.'),
    status: z.enum(TASK_STATUSES).optional().describe('New status.'),
    subject: text(MAX_SUBJECT_LENGTH).optional().describe('New subject.'),
    description: z.string().max(MAX_DESCRIPTION_LENGTH).optional().describe('New description.'),
    activeForm: text(MAX_SUBJECT_LENGTH).optional().describe('New active form.'),
    owner: z
      .string()
      .max(MAX_OWNER_LENGTH)
      .refine((name) => !/\p{Cc}/u.test(name), 'must be a name')
      .optional()
      .describe('Agent; empty: none.'),
    addBlocks: ids('Tasks that wait for it.'),
    addBlockedBy: ids('Tasks it waits for.'),
    metadata: z.record(z.string(), z.unknown()).optional().describe('Null removes.'),
  }),
  describe: ({ taskId, status }) =>
    `TaskUpdate ${shownTaskId(taskId)}${status === undefined ? '' : ` ${status}`}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  // The list records the calls that changed it, so a repeated call has no second effect.
  rejoins: true,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'cancel',
  async call({ taskId, ...changes }, context) {
    const work = taskListOf(context);
    const id = normalizeTaskId(taskId);
    if (Object.values(changes).every((value) => value === undefined)) {
      throw new ToolFailure(
        `No change is given for task ${shownTaskId(id)}. Give one, or use TaskGet.`,
      );
    }
    const change = {
      ...changes,
      addBlocks: changes.addBlocks?.map(normalizeTaskId),
      addBlockedBy: changes.addBlockedBy?.map(normalizeTaskId),
    };
    const item = await unlessRefused(() => work.update(id, change));
    if (item === undefined) {
      return { content: `Task ${id} is deleted.`, facts: { task: id, status: 'deleted' } };
    }
    const { status, owner = '' } = item;
    return {
      content: `Task ${id} is now: ${taskState(item, await work.list())}.`,
      facts: { task: id, status, owner },
    };
  },
});
