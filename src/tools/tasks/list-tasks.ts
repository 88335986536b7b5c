/** Lists the tasks that all agents of a session share. */
import { z } from 'zod';
import { defineTool } from '../../protocol/tools/tool.js';
import { listText, workOf } from './task-text.js';

const PROMPT = `Lists the shared tasks: status, owner, and what each waits for.`;

export const listWork = defineTool({
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
    const all = await workOf(context).list();
    return { content: listText(all), facts: { items: all.length } };
  },
});
