/** TaskStop: stops a background task with its processes, or an agent with its descendants. */
import { z } from 'zod';
import { defineTool } from '../../protocol/tools/tool.js';
import { findBackgroundAgent, showBackgroundAgent } from '../agents/background-agent.js';
import { truncateLine } from '../text/truncate-text.js';
import { findTask, showTask } from './show-task.js';

const PROMPT = `Stops a background task with all its processes, or an agent with all its descendants, and shows the last output or report. An ended task is only shown.`;

export const stopTask = defineTool({
  name: 'TaskStop',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({ task_id: z.string().min(1).describe('Id of the task.') }),
  describe: ({ task_id }) => `TaskStop ${truncateLine(task_id, 100)}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => true,
  // The tool can only stop tasks that this agent was allowed to start.
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'block',
  async call({ task_id }, context) {
    const agent = findBackgroundAgent(task_id, context);
    if (agent !== undefined) {
      const { status } = agent.view;
      if (status !== 'ended' && status !== 'stopped') await agent.agents.stop(agent.id);
      return showBackgroundAgent(agent);
    }
    const task = findTask(task_id, context);
    if (task.status.kind === 'running') await task.stop();
    return showTask(task, context);
  },
});
