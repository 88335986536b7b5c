/** What hooks say of a call that has ended: PostToolUse and PostToolUseFailure. */
import { withoutTags } from '../../prompt/messages/quote-text.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import type { ResultBlock, ToolOutcome } from '../../protocol/tools/tool.js';
import type { PendingCall } from '../calls/pending-call.js';
import type { ValidCall } from '../permissions/judge-call.js';

export interface EndedCall extends ToolOutcome {
  readonly failed: boolean;
  readonly interrupted: boolean;
  readonly durationMs: number;
}

export interface AfterCall {
  readonly outcome: EndedCall;
  /** The run is to end here. */
  readonly halt: string | undefined;
}

export const afterCall = async (
  hooks: Hooks,
  job: PendingCall,
  { tool, input }: ValidCall,
  outcome: EndedCall,
): Promise<AfterCall> => {
  const event = outcome.failed || outcome.interrupted ? 'PostToolUseFailure' : 'PostToolUse';
  if (!hooks.has(event, tool.name)) {
    return { outcome: withContext(outcome, job.context), halt: undefined };
  }
  const call = job.wanted.id;
  const { content, isError = false, facts = {} } = outcome;
  const told = { tool_name: tool.name, tool_input: input, tool_use_id: call };
  const what =
    event === 'PostToolUse'
      ? { tool_response: { content, isError, ...facts } }
      : { error: textOf(content), is_interrupt: outcome.interrupted };
  const terms = { subject: tool.name, call, signal: job.controller.signal };
  const verdict = await hooks.fire(event, { ...told, ...what }, terms);
  const { updatedOutput, block, context, halt } = verdict;
  const replaced =
    tool.kind === 'mcp' && updatedOutput !== undefined
      ? { ...outcome, content: textOf(updatedOutput) }
      : outcome;
  const said = block === undefined ? context : [`A hook objects: ${block.reason}`, ...context];
  return { outcome: withContext(replaced, [...job.context, ...said]), halt };
};

/** After the result, so that nobody takes it for a part of what the tool said. */
export const withContext = <Outcome extends ToolOutcome>(
  outcome: Outcome,
  context: readonly string[],
): Outcome => {
  if (context.length === 0) return outcome;
  const said: ResultBlock[] = context.map((text) => ({
    type: 'text',
    text: `<hook-context>\n${withoutTags(text)}\n</hook-context>`,
  }));
  const { content } = outcome;
  const blocks: readonly ResultBlock[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  // The API refuses a block of text without text.
  const shown = blocks.filter((block) => block.type !== 'text' || block.text !== '');
  return { ...outcome, content: [...shown, ...said] };
};

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : (JSON.stringify(content) ?? '');
