/** Changes a task of the shared list: claims it, hands it over, completes it, makes it wait. */
import { z } from 'zod';
import {
  LONGEST_DESCRIPTION,
  LONGEST_OWNER,
  LONGEST_SUBJECT,
  MOST_BLOCKERS,
  TASK_STATUSES,
} from '../../protocol/session/task-list.js';
import { defineTool, ToolFailure } from '../../protocol/tools/tool.js';
import { idOf, shownId, stateText, unlessRefused, workOf } from './task-text.js';

const PROMPT = `Changes a shared task. in_progress makes it yours, unless somebody was faster; pending gives it back; completed is for what is really done; deleted removes it.`;

const LONGEST_ID = 100;

const words = (longest: number) => z.string().regex(/\S/, 'must not be empty').max(longest);
const ids = (what: string) =>
  z.array(z.string().min(1).max(LONGEST_ID)).max(MOST_BLOCKERS).optional().describe(what);

export const updateWork = defineTool({
  name: 'TaskUpdate',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    taskId: z.string().min(1).max(LONGEST_ID).describe('Its number.'),
    status: z.enum(TASK_STATUSES).optional().describe('How far it is.'),
    subject: words(LONGEST_SUBJECT).optional().describe('New subject.'),
    description: z.string().max(LONGEST_DESCRIPTION).optional().describe('New description.'),
    activeForm: words(LONGEST_SUBJECT).optional().describe('New active form.'),
    owner: z
      .string()
      .max(LONGEST_OWNER)
      .refine((name) => !/\p{Cc}/u.test(name), 'must be a name')
      .optional()
      .describe('Agent; empty: nobody.'),
    addBlocks: ids('Tasks that wait for it.'),
    addBlockedBy: ids('Tasks it waits for.'),
    metadata: z.record(z.string(), z.unknown()).optional().describe('Null removes.'),
  }),
  describe: ({ taskId, status }) =>
    `TaskUpdate ${shownId(taskId)}${status === undefined ? '' : ` ${status}`}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  // The list knows the calls that changed it, so one that is started again changes nothing more.
  rejoins: true,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'cancel',
  async call({ taskId, ...asked }, context) {
    const work = workOf(context);
    const id = idOf(taskId);
    if (Object.values(asked).every((value) => value === undefined)) {
      throw new ToolFailure(
        `Nothing of task ${shownId(id)} is to change. Say what, or use TaskGet.`,
      );
    }
    const change = {
      ...asked,
      addBlocks: asked.addBlocks?.map(idOf),
      addBlockedBy: asked.addBlockedBy?.map(idOf),
    };
    const item = await unlessRefused(() => work.update(id, change));
    if (item === undefined) {
      return { content: `Task ${id} is deleted.`, facts: { task: id, status: 'deleted' } };
    }
    const { status, owner = '' } = item;
    return {
      content: `Task ${id} is kept: ${stateText(item, await work.list())}.`,
      facts: { task: id, status, owner },
    };
  },
});
