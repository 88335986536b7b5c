/**
 * Where forks of an agent begin: behind its newest message, with the same words in place of the results
 * of every call in it. It is written down once, so that all forks of the message share it, also those
 * that begin later or are taken up again by another process (laws 2 and 3).
 */
import { FORK_PLACEHOLDER } from '../../prompt/messages/delegation-text.js';
import { StorageError } from '../../protocol/errors.js';
import type { SessionStore } from '../../protocol/session/store.js';
import type { Origin } from '../../protocol/session/swarm-records.js';
import { type FoldedState, foldRecords } from '../agent/journaled-state.js';
import { resultBlock } from '../calls/tool-result.js';
import type { AgentNode } from './agent-node.js';

export interface ForkPoint {
  readonly seq: number;
  /** What the agent knew then. */
  readonly base: FoldedState;
}

/** Throws a StorageError. */
export const forkPointOf = (member: AgentNode): ForkPoint => {
  const { notebook } = member.deps;
  const { history } = notebook;
  const offered = history.family.offer?.seq ?? offer(member);
  if (member.forkPoint?.seq !== offered) {
    member.forkPoint = { seq: offered, base: foldRecords([], notebook) };
  }
  return member.forkPoint;
};

const offer = ({ deps: { notebook } }: AgentNode): number => {
  const blocks = [...notebook.history.calls.keys()].map((call) =>
    resultBlock(call, FORK_PLACEHOLDER, false),
  );
  return notebook.record({ type: 'fork.offered', raw: `[${blocks.join(',')}]` }).seq;
};

/** The same from the journals, for a fork that another process began. */
export const inheritedBy = async (
  store: Pick<SessionStore, 'peek'>,
  session: string,
  inherits: Origin['inherits'],
  below: readonly string[] = [],
): Promise<FoldedState | undefined> => {
  if (inherits === undefined) return undefined;
  const { agent, seq } = inherits;
  // Nobody wrote that but somebody who meant harm.
  if (below.includes(agent)) throw new StorageError(`${agent} claims to be a fork of itself.`);
  const { records } = await store.peek(session, agent, seq);
  if (records.at(-1)?.seq !== seq) {
    throw new StorageError(
      `The journal of ${agent} has lost the record ${seq}, where its fork begins, so the fork cannot go on.`,
    );
  }
  const created = records.find((record) => record.type === 'agent.created');
  const before = created?.type === 'agent.created' ? created.origin?.inherits : undefined;
  return foldRecords(records, await inheritedBy(store, session, before, [...below, agent]));
};
