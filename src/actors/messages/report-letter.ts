/** How an agent hears of the end of one that it did not wait for: in a letter, which comes once. */
import type { AgentRelations } from '../../context/history/relations.js';
import { type AgentTag, CHILD_SENDER, type ChildReport } from '../../protocol/agent/swarm.js';
import { SkeinError } from '../../protocol/errors.js';
import { rawText } from '../../protocol/model/wire.js';
import { gistOf, lossText, notificationText } from '../../tools/agents/agent-report.js';
import { shortDigest } from '../permissions/input-digest.js';
import type { AgentNode } from '../tree/agent-node.js';

/** One that is resumed ends again, and that is another letter. */
export const letterOf = (id: string, run: number): string => `r_${id}_${run}`;

/** Nobody is told who has ended; what became of the child is on record. */
export const deliverReport = (member: AgentNode, report: ChildReport, run: number): void =>
  deliver(member, report.agent.id, run, {
    text: notificationText(report),
    trace: shortDigest(gistOf(report)),
  });

/** One that cannot go on where its last run broke off. */
export const deliverLoss = (member: AgentNode, child: AgentTag, run: number, why: string): void =>
  deliver(member, child.id, run, { text: lossText(child, why) });

interface News {
  readonly text: string;
  readonly trace?: string;
}

const deliver = (member: AgentNode, id: string, run: number, { text, trace }: News): void => {
  const { notebook } = member.deps;
  const { agent } = member;
  if (hasHeardOf(member, id, run)) return;
  const letter = letterOf(id, run);
  const raw = `[${rawText(text)}]`;
  try {
    if (agent !== undefined) agent.submit(CHILD_SENDER, raw, letter, trace);
    else notebook.record({ type: 'letter.received', letter, from: CHILD_SENDER, trace, raw });
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
  }
};

/** Children of which some run has been heard of. */
export const heardOf = ({ reports }: AgentRelations): ReadonlySet<string> =>
  new Set([...reports].map((letter) => letter.replace(/^r_(.*)_\d+$/, '$1')));

/** Whether a member knows how that run of its child ended. */
export const hasHeardOf = ({ deps }: AgentNode, id: string, run: number): boolean =>
  deps.notebook.history.family.reports.has(letterOf(id, run));
