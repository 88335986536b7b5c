/** Finds orders to the reader in the results of tools that return text from outside, and warns about them. */
import { findOrders } from '../../policy/scan/find-orders.js';
import { orderWarning } from '../../prompt/messages/order-warning.js';
import type { OrderKind } from '../../protocol/permission/order-kind.js';
import type { ResultBlock, ToolOutcome } from '../../protocol/tools/tool.js';
import type { ValidCall } from '../permissions/judge-call.js';

/** Returns no orders for the results of other tools. */
export const resultOrders = (call: ValidCall, outcome: ToolOutcome): readonly OrderKind[] =>
  isFromOutside(call, outcome) ? findOrders(textOf(outcome.content)) : [];

/** Adds a warning after the content if there are orders. Removes no text. */
export const withOrderWarning = <Outcome extends ToolOutcome>(
  outcome: Outcome,
  orders: readonly OrderKind[],
): Outcome => {
  if (orders.length === 0) return outcome;
  const { content } = outcome;
  const warning = orderWarning(orders);
  const warned: string | readonly ResultBlock[] =
    typeof content === 'string'
      ? `${content}\n\n${warning}`
      : [...content, { type: 'text', text: warning }];
  return { ...outcome, content: warned };
};

/**
 * True for the web, for tools that are not built in, for reports, which defuse themselves, for commands that use the
 * network, and for files with large outputs of such tools.
 */
const isFromOutside = (
  { tool, request }: ValidCall,
  { isDefused = false }: ToolOutcome,
): boolean => {
  if (isDefused || tool.kind !== 'builtin') return true;
  const { action, target } = request.subject;
  if (action === 'execute') return DOWNLOADS.test(target);
  return action === 'network' || (action === 'read' && ARTIFACT.test(target));
};

const DOWNLOADS =
  /\b(?:curl|wget|aria2c|https?|xh|lynx|w3m|links2?|gh|glab|nc|ncat|socat|ssh)(?=\s)/;
const ARTIFACT = /\/sessions\/[^/]+\/artifacts(?:\/|$)/;

const textOf = (content: string | readonly ResultBlock[]): string =>
  typeof content === 'string'
    ? content
    : content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
