/**
 * TaskOutput: shows the new output of a background task or the report of an agent, and its status.
 */
import { z } from 'zod';
import { defineTool, type ToolOutcome } from '../../protocol/tools/tool.js';
import { findBackgroundAgent, showBackgroundAgent } from '../agents/background-agent.js';
import { capTimeout } from '../shell/cap-timeout.js';
import { truncateLine } from '../text/truncate-text.js';
import { findTask, showTask } from './show-task.js';

const DEFAULT_WAIT_MS = 30_000;
const MAX_WAIT_MS = 600_000;

const PROMPT = `Shows the output of a background task since you last looked, or the report of an agent, and its status.

- task_id is the id from the start, such as bash_1, or an agent's id or name.
- Waits for the end, at most ${DEFAULT_WAIT_MS} ms unless you set timeout (at most ${MAX_WAIT_MS}). Set block to false to look without waiting.
- All output of a command is also in the file that its start named.`;

export const taskOutput = defineTool({
  name: 'TaskOutput',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    task_id: z.string().min(1).describe('Id of the task.'),
    block: z.boolean().optional().describe('Wait; default true.'),
    timeout: z.int().min(0).optional().describe('Milliseconds to wait at most.'),
  }),
  describe: ({ task_id }) => `TaskOutput ${truncateLine(task_id, 100)}`,
  isReadOnly: () => true,
  polls: () => true,
  isConcurrencySafe: () => true,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'cancel',
  async call({ task_id, block = true, timeout = DEFAULT_WAIT_MS }, context) {
    const { timeoutMs, note } = capTimeout(
      timeout,
      MAX_WAIT_MS,
      'Call TaskOutput again to wait on.',
    );
    const agent = findBackgroundAgent(task_id, context);
    if (agent !== undefined) {
      await agent.agents.untilEnded(agent.id, block ? timeoutMs : 0, context.signal);
      return withNote(showBackgroundAgent(agent), note);
    }
    const task = findTask(task_id, context);
    if (block) await task.untilEnded(timeoutMs, context.signal);
    return withNote(showTask(task, context), note);
  },
});

const withNote = (outcome: ToolOutcome, note: string): ToolOutcome =>
  note === '' || typeof outcome.content !== 'string'
    ? outcome
    : { ...outcome, content: `${outcome.content}\n\n${note}` };
