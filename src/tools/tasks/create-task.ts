/** Adds a task to the list that all agents of a session share. */
import { z } from 'zod';
import { LONGEST_DESCRIPTION, LONGEST_SUBJECT } from '../../protocol/session/task-list.js';
import { defineTool } from '../../protocol/tools/tool.js';
import { shortLine } from '../truncation.js';
import { unlessRefused, workOf } from './task-text.js';

const PROMPT = `Adds a task to the list that all agents share. Your own steps are for TodoWrite.`;

const words = (longest: number) => z.string().regex(/\S/, 'must not be empty').max(longest);

export const createWork = defineTool({
  name: 'TaskCreate',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    subject: words(LONGEST_SUBJECT).describe('In a few words.'),
    description: z.string().max(LONGEST_DESCRIPTION).describe('All that its owner must know.'),
    activeForm: words(LONGEST_SUBJECT).optional().describe('"Fixing the parser"'),
    metadata: z.record(z.string(), z.unknown()).optional().describe('Your facts.'),
  }),
  describe: ({ subject }) => `TaskCreate ${shortLine(subject.trim(), LONGEST_SUBJECT)}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  // The list knows the calls that changed it, so one that is started again changes nothing more.
  rejoins: true,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'cancel',
  async call(order, context) {
    const work = workOf(context);
    const { id, subject } = await unlessRefused(() => work.create(order));
    return { content: `Task ${id} created: ${subject}`, facts: { task: id } };
  },
});
