/**
 * Clones for agents on machines without the workspace of their lead. Each agent works in its own
 * clone and pushes its work to a branch of the remote that all machines can reach.
 */
import { movedText } from '../../prompt/messages/worktree-task.js';
import { rawText } from '../../protocol/model/wire-block.js';
import { JOB_SENDER } from '../../protocol/tools/shell-jobs.js';
import {
  type CloneLocation,
  type Clones,
  type SettleResult,
  WorktreeRefusal,
} from '../../protocol/tools/worktrees.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { SwarmContext } from '../tree/swarm-context.js';

/**
 * Ensures that a restarted agent has its working tree on this machine, and writes a letter about a
 * new location. Rejects with WorktreeRefusal; then no record was written.
 */
export const openWorkerClone = async (
  { setup: { clones }, session, dispatch }: SwarmContext,
  agent: string,
  journal: JournaledState,
  parent: AgentNode,
): Promise<void> => {
  const { history } = journal;
  const isOver = history.ended?.final === true && history.letters.waiting === 0;
  const { cloned: previous, origin } = history.relations;
  if (isOver) return;
  if (clones === undefined) {
    if (previous !== undefined && dispatch?.jobsHere.has(agent))
      throw new WorktreeRefusal(noRemote(previous));
    return;
  }
  if (isReachable(clones, previous, parent)) return;
  const to = await clones.move({ session: session.meta.id, agent, before: previous });
  journal.record({ type: 'agent.moved', to });
  const text = rawText(movedText(to, previous, origin?.worktree?.path));
  const letter = parent.deps.ids('letter');
  journal.record({ type: 'letter.received', letter, from: JOB_SENDER, raw: `[${text}]` });
};

const noRemote = ({ host, url }: CloneLocation): string =>
  `It last ran on ${host}, in a clone of ${url}, and its lead no longer names a remote: set skein.workspaceRemote there.`;

/**
 * True if the working tree is on this machine: the clone of the agent or that of its nearest
 * ancestor.
 */
const isReachable = (
  clones: Clones,
  own: CloneLocation | undefined,
  parent: AgentNode | ChildNode,
): boolean => {
  if (own !== undefined) return clones.isHere(own);
  if (!('parent' in parent)) return !clones.lacksWorkspace;
  return isReachable(clones, parent.deps.journal.history.relations.cloned, parent.parent);
};

/**
 * Commits and pushes the work of a child in a clone. Returns undefined if the child has no clone.
 */
export const pushWorkerClone = async (
  { setup: { clones } }: SwarmContext,
  { id, deps }: ChildNode,
  keepsFolder: boolean,
): Promise<SettleResult | undefined> => {
  const { cloned, writtenFiles } = deps.journal.history.relations;
  if (cloned === undefined) return undefined;
  if (clones === undefined) return { settlement: leftOnHost(cloned), diff: NO_DIFF };
  // A process that has lost the agent fails here and pushes no work. The records of an idle agent
  // are already written.
  if (!keepsFolder) await deps.journal.written();
  return clones.deliver({ agent: id, cloned, ignoredFiles: [...writtenFiles], keepsFolder });
};

const NO_DIFF = new Uint8Array();

const leftOnHost = ({ host, place, url }: CloneLocation): SettleResult['settlement'] => ({
  kind: 'kept',
  why: `it last ran on ${host}, and ended elsewhere. The work that ${host} pushed is on the branch ${place.branch} of ${url}.`,
});
