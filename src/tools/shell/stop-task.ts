/** Ends a background task, or an agent, with everything that it started. */
import { z } from 'zod';
import { defineTool } from '../../protocol/tools/tool.js';
import { findAgent, showAgent } from '../agents/background-agent.js';
import { shortLine } from '../truncation.js';
import { findTask, showTask } from './background-task.js';

const PROMPT = `Ends a background task, with every process that it started, or an agent, with all below it, and shows what it did last. One that has ended already is only shown.`;

export const stopTask = defineTool({
  name: 'TaskStop',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({ task_id: z.string().min(1).describe('Id of the task.') }),
  describe: ({ task_id }) => `TaskStop ${shortLine(task_id, 100)}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => true,
  // It can only end what this agent was allowed to start.
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'block',
  async call({ task_id }, context) {
    const agent = findAgent(task_id, context);
    if (agent !== undefined) {
      const { status } = agent.view;
      if (status !== 'ended' && status !== 'stopped') await agent.agents.stop(agent.id);
      return showAgent(agent);
    }
    const task = findTask(task_id, context);
    if (task.status.kind === 'running') await task.stop();
    return showTask(task, context);
  },
});
