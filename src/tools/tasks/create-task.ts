/** TaskCreate: adds a task to the list that all agents of a session share. */
import { z } from 'zod';
import {
  MAX_DESCRIPTION_LENGTH,
  MAX_SUBJECT_LENGTH,
} from '../../protocol/session/shared-task-list.js';
import { defineTool } from '../../protocol/tools/tool.js';
import { truncateLine } from '../text/truncate-text.js';
import { taskListOf, unlessRefused } from './task-text.js';

const PROMPT = `Adds a task to the list that all agents share. Your own steps are for TodoWrite.`;

const text = (maxLength: number) => z.string().regex(/\S/, 'must not be empty').max(maxLength);

export const createTask = defineTool({
  name: 'TaskCreate',
  kind: 'builtin',
  prompt: PROMPT,
  mentions: [{ of: ['TodoWrite'], text: ' Your own steps are for TodoWrite.', instead: '' }],
  input: z.strictObject({
    subject: text(MAX_SUBJECT_LENGTH).describe('In a few words.'),
    description: z.string().max(MAX_DESCRIPTION_LENGTH).describe('All that its owner needs.'),
    activeForm: text(MAX_SUBJECT_LENGTH).optional().describe('"Fixing the parser"'),
    metadata: z.record(z.string(), z.unknown()).optional().describe('Extra data.'),
  }),
  describe: ({ subject }) => `TaskCreate ${truncateLine(subject.trim(), MAX_SUBJECT_LENGTH)}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  // The list records the calls that changed it, so a repeated call has no second effect.
  rejoins: true,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'cancel',
  async call(order, context) {
    const work = taskListOf(context);
    const { id, subject } = await unlessRefused(() => work.create(order));
    return { content: `Task ${id} created: ${subject}`, facts: { task: id } };
  },
});
