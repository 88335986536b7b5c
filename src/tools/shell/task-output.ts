/** Shows what a background task has printed since the last look or what an agent reports, and whether it still runs. */
import { z } from 'zod';
import { defineTool } from '../../protocol/tools/tool.js';
import { findAgent, showAgent } from '../agents/background-agent.js';
import { shortLine } from '../truncation.js';
import { findTask, showTask } from './background-task.js';

const DEFAULT_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 600_000;

const PROMPT = `Shows what a background task has printed since you last looked, or the report of an agent, and how it is doing.

- task_id is what you were given at the start, such as bash_1, or an agent's id or name.
- Waits for its end, at most ${DEFAULT_WAIT_MS} ms unless you set timeout (at most ${LONGEST_WAIT_MS}). Set block to false to look without waiting.
- All that a command printed is also in the file whose path you were given.`;

export const taskOutput = defineTool({
  name: 'TaskOutput',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    task_id: z.string().min(1).describe('Id of the task.'),
    block: z.boolean().optional().describe('Wait; true if left out.'),
    timeout: z
      .int()
      .min(0)
      .max(LONGEST_WAIT_MS)
      .optional()
      .describe('Milliseconds to wait at most.'),
  }),
  describe: ({ task_id }) => `TaskOutput ${shortLine(task_id, 100)}`,
  isReadOnly: () => true,
  polls: () => true,
  isConcurrencySafe: () => true,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'cancel',
  async call({ task_id, block = true, timeout = DEFAULT_WAIT_MS }, context) {
    const agent = findAgent(task_id, context);
    if (agent !== undefined) {
      await agent.agents.untilEnded(agent.id, block ? timeout : 0, context.signal);
      return showAgent(agent);
    }
    const task = findTask(task_id, context);
    if (block) await task.untilEnded(timeout, context.signal);
    return showTask(task, context);
  },
});
