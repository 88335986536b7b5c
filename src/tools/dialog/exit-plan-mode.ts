/** Shows a person the plan, and ends plan mode when they agree. No model can do that by itself. */
import { z } from 'zod';
import { defineTool, ToolFailure } from '../../protocol/tools/tool.js';

const LONGEST_PLAN = 20_000;

export const exitPlanMode = defineTool({
  name: 'ExitPlanMode',
  kind: 'builtin',
  prompt:
    'In plan mode only: shows the person your finished plan and asks to carry it out. If they refuse, plan again with what they said.',
  input: z.strictObject({
    plan: z
      .string()
      .regex(/\S/, 'must not be empty')
      .max(LONGEST_PLAN)
      .describe('The whole plan, in Markdown.'),
  }),
  describe: () => 'ExitPlanMode',
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: () => ({ action: 'none', target: '' }),
  checkPermissions: (_, mode) =>
    mode === 'plan'
      ? { behavior: 'ask', reason: 'Only a person can end plan mode.', everyTime: true }
      : { behavior: 'deny', reason: 'This is not plan mode: there is nothing to leave.' },
  interruptBehavior: 'block',
  async call(_, { leavePlanMode }) {
    if (leavePlanMode === undefined) throw new ToolFailure('Only a person can end plan mode.');
    const mode = leavePlanMode();
    return { content: `The person agrees with the plan. The mode is now ${mode}: carry it out.` };
  },
});
