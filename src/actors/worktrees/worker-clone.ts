/**
 * Agents on machines that do not have the workspace of their lead: each works in a clone of its own, which
 * is made before it begins there, and its work goes to a branch of the remote that all machines reach.
 */
import { movedText } from '../../prompt/messages/delegation-text.js';
import { rawText } from '../../protocol/model/wire.js';
import { JOB_SENDER } from '../../protocol/tools/shell-jobs.js';
import {
  type ClonedPlace,
  type Clones,
  type Settled,
  WorktreeRefusal,
} from '../../protocol/tools/worktree.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { SwarmContext } from '../tree/swarm-context.js';

/**
 * One that goes on has its place on this machine afterwards, and knows where that is. Rejects with a
 * WorktreeRefusal; then nothing is on record of it.
 */
export const placeHere = async (
  { setup: { clones }, session, dispatch }: SwarmContext,
  agent: string,
  notebook: JournaledState,
  parent: AgentNode,
): Promise<void> => {
  const { history } = notebook;
  const isOver = history.ended?.final === true && history.letters.waiting === 0;
  const { cloned: before, origin } = history.family;
  if (isOver) return;
  if (clones === undefined) {
    if (before !== undefined && dispatch?.ours.has(agent))
      throw new WorktreeRefusal(unknown(before));
    return;
  }
  if (isReachable(clones, before, parent)) return;
  const to = await clones.move({ session: session.meta.id, agent, before });
  notebook.record({ type: 'agent.moved', to });
  const told = rawText(movedText(to, before, origin?.worktree?.path));
  const letter = parent.deps.ids('letter');
  notebook.record({ type: 'letter.received', letter, from: JOB_SENDER, raw: `[${told}]` });
};

const unknown = ({ host, url }: ClonedPlace): string =>
  `It was last worked on by ${host}, in a clone of ${url}, and its lead names no remote now: set skein.workspaceRemote there.`;

/** Where it works is on this machine: its own clone, or the place of whoever it works for. */
const isReachable = (
  clones: Clones,
  own: ClonedPlace | undefined,
  parent: AgentNode | ChildNode,
): boolean => {
  if (own !== undefined) return clones.isHere(own);
  if (!('parent' in parent)) return !clones.isAway;
  return isReachable(clones, parent.deps.notebook.history.family.cloned, parent.parent);
};

/** Undefined for one that works in no clone. */
export const deliverClone = async (
  { setup: { clones } }: SwarmContext,
  { id, deps }: ChildNode,
  stays: boolean,
): Promise<Settled | undefined> => {
  const { cloned, writtenFiles } = deps.notebook.history.family;
  if (cloned === undefined) return undefined;
  if (clones === undefined) return { settlement: leftThere(cloned), diff: NO_DIFF };
  // Whoever has lost it to another is refused here, and pushes nothing; one that stays has been stored.
  if (!stays) await deps.notebook.written();
  return clones.deliver({ agent: id, cloned, wanted: [...writtenFiles], stays });
};

const NO_DIFF = new Uint8Array();

const leftThere = ({ host, place, url }: ClonedPlace): Settled['settlement'] => ({
  kind: 'kept',
  why: `it was last worked on by ${host}, and ended elsewhere. What ${host} had pushed is on the branch ${place.branch} of ${url}.`,
});
