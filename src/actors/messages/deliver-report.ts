/** Delivers the report of a child that its parent did not wait for: a letter for each run. */

import type { AgentRelations } from '../../context/history/agent-relations.js';
import { findOrders } from '../../policy/scan/find-orders.js';
import { orderWarning } from '../../prompt/messages/order-warning.js';
import type { AgentTag } from '../../protocol/agent/agent-tag.js';
import { CHILD_SENDER, type ChildReport } from '../../protocol/agent/child-report.js';
import { rawText } from '../../protocol/model/wire-block.js';
import type { OrderKind } from '../../protocol/permission/order-kind.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { SkeinError } from '../../protocol/skein-error.js';
import {
  agentLabel,
  agentLossText,
  reportGist,
  reportNotification,
} from '../../tools/agents/agent-report.js';
import { shortDigest } from '../permissions/input-digest.js';
import type { AgentNode } from '../tree/agent-node.js';
import { reportLetterId } from '../tree/agent-registry.js';

/**
 * Delivers the report of a child as a letter. Ignores a parent that has ended, because the outcome
 * is in the journal of the child.
 */
export const deliverReport = (node: AgentNode, report: ChildReport, run: number): void => {
  const orders = findOrders(report.text);
  const warning = orders.length === 0 ? '' : `\n${orderWarning(orders)}`;
  deliverOnce(node, report.agent.id, run, {
    text: `${reportNotification(report)}${warning}`,
    trace: shortDigest(reportGist(report)),
    orders,
  });
};

/** Delivers a letter about a child that cannot be resumed. */
export const deliverLoss = (node: AgentNode, child: AgentTag, run: number, why: string): void =>
  deliverOnce(node, child.id, run, { text: agentLossText(child, why) });

interface LetterContent {
  readonly text: string;
  readonly trace?: string;
  /** Orders to the reader in the text. Default: none. */
  readonly orders?: readonly OrderKind[];
}

const deliverOnce = (
  node: AgentNode,
  id: string,
  run: number,
  { text, trace, orders = [] }: LetterContent,
): void => {
  const { journal } = node.deps;
  const { agent } = node;
  if (hasReport(node, id, run)) return;
  const letter = reportLetterId(id, run);
  const raw = `[${rawText(text)}]`;
  try {
    if (orders.length > 0) {
      journal.record({ type: 'orders.found', from: id, kinds: [...orders], letter });
    }
    if (agent !== undefined) agent.submit(CHILD_SENDER, raw, letter, trace);
    else journal.record({ type: 'letter.received', letter, from: CHILD_SENDER, trace, raw });
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
  }
};

/** Returns the ids of children with a delivered report. */
export const reportedChildren = ({ reports }: AgentRelations): ReadonlySet<string> =>
  new Set([...reports].map((letter) => letter.replace(/^r_(.*)_\d+$/, '$1')));

/** True if the agent has the report about this run of its child. */
export const hasReport = ({ deps }: AgentNode, id: string, run: number): boolean =>
  deps.journal.history.relations.reports.has(reportLetterId(id, run));

/** Returns the notice about lost records of an agent that another process runs. */
export const remoteLossNotice = (agent: AgentTag, records: number): LossNotice => ({
  type: 'notice',
  text: `${agentLabel(agent)}: Redis has lost records of this agent. Calls that are not in its transcript may have run.`,
  loss: { agent: agent.id, records },
});

type LossNotice = FeedItem & { readonly type: 'notice' };

/** Returns the notice for people about records that the store has lost. Undefined if no loss is known. */
export const lossNoticeOf = ({
  agent,
  stop,
  lostRecords: records,
}: ChildReport): LossNotice | undefined =>
  records === undefined
    ? undefined
    : {
        type: 'notice',
        text: `${agentLabel(agent)}: ${stop.detail}`,
        loss: { agent: agent.id, records },
      };
