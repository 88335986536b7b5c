/** ExitPlanMode: shows a person the plan, and ends plan mode if the person agrees. */
import { z } from 'zod';
import { defineTool, ToolFailure } from '../../protocol/tools/tool.js';

const MAX_PLAN_LENGTH = 20_000;

export const exitPlanMode = defineTool({
  name: 'ExitPlanMode',
  kind: 'builtin',
  prompt:
    'In plan mode only: shows the user your finished plan and asks to carry it out. If they refuse, plan again with what they said.',
  input: z.strictObject({
    plan: z
      .string()
      .regex(/\S/, 'must not be empty')
      .max(MAX_PLAN_LENGTH)
      .describe('The whole plan, in Markdown.'),
  }),
  describe: () => 'ExitPlanMode',
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: () => ({ action: 'none', target: '' }),
  checkPermissions: (_, mode) =>
    mode === 'plan'
      ? { behavior: 'ask', reason: 'Only the user can end plan mode.', everyTime: true }
      : { behavior: 'deny', reason: 'This is not plan mode, so it cannot be ended.' },
  interruptBehavior: 'block',
  async call(_, { leavePlanMode }) {
    if (leavePlanMode === undefined) throw new ToolFailure('Only the user can end plan mode.');
    const mode = leavePlanMode();
    return { content: `The user agrees with the plan. The mode is now ${mode}: carry it out.` };
  },
});
