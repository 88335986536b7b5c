/** Runs PostToolUse and PostToolUseFailure hooks for an ended call. Hooks see the whole result. */
import { escapeTags } from '../../prompt/escape-tags.js';
import { defuseContent } from '../../prompt/messages/defuse-result.js';
import type { Hooks } from '../../protocol/permission/hooks.js';
import { contentText, type ResultBlock, type ToolOutcome } from '../../protocol/tools/tool.js';
import type { PendingCall } from '../calls/pending-call.js';
import type { ValidCall } from '../permissions/judge-call.js';

interface EndedCall extends ToolOutcome {
  readonly failed: boolean;
  readonly crashed?: true;
  readonly interrupted: boolean;
  readonly durationMs: number;
}

interface PostToolResult {
  readonly outcome: EndedCall;
  /** Reason to stop the run, if a hook asked for it. */
  readonly stopReason: string | undefined;
}

/** Shortens a long result. The texts of hooks are added to the shortened result. */
type Shorten = (outcome: EndedCall) => Promise<EndedCall>;

export const postToolHooks = async (
  hooks: Hooks,
  pending: PendingCall,
  { tool, input }: ValidCall,
  outcome: EndedCall,
  shorten: Shorten,
): Promise<PostToolResult> => {
  const event = outcome.failed || outcome.interrupted ? 'PostToolUseFailure' : 'PostToolUse';
  if (!hooks.has(event, tool.name)) {
    return { outcome: withContext(await shorten(outcome), pending.context), stopReason: undefined };
  }
  const call = pending.requested.id;
  const { content, isError = false, facts = {} } = outcome;
  const request = { tool_name: tool.name, tool_input: input, tool_use_id: call };
  const result =
    event === 'PostToolUse'
      ? { tool_response: { content, isError, ...facts } }
      : { error: contentText(content), is_interrupt: outcome.interrupted };
  const options = { subject: tool.name, call, signal: pending.controller.signal };
  const verdict = await hooks.fire(event, { ...request, ...result }, options);
  const { updatedOutput, block, context, halt: stopReason } = verdict;
  const replaced =
    tool.kind === 'mcp' && updatedOutput !== undefined
      ? { ...outcome, content: defuseContent(textOf(updatedOutput)) }
      : outcome;
  const added = block === undefined ? context : [`A hook objects: ${block.reason}`, ...context];
  return {
    outcome: withContext(await shorten(replaced), [...pending.context, ...added]),
    stopReason,
  };
};

/** Adds hook context after the result, so that it is not read as output of the tool. */
export const withContext = <Outcome extends ToolOutcome>(
  outcome: Outcome,
  context: readonly string[],
): Outcome => {
  if (context.length === 0) return outcome;
  const added: ResultBlock[] = context.map((text) => ({
    type: 'text',
    text: `<hook-context>\n${escapeTags(text)}\n</hook-context>`,
  }));
  const { content } = outcome;
  const blocks: readonly ResultBlock[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  // The API refuses an empty text block.
  const shown = blocks.filter((block) => block.type !== 'text' || block.text !== '');
  return { ...outcome, content: [...shown, ...added] };
};

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : (JSON.stringify(content) ?? '');
