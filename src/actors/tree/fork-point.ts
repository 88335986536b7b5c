/**
 * The fork point of an agent: its newest message with the same placeholder result for every call. Journaled
 * once, so that all forks of the message share it, also forks that start later or restart in another process
 * (laws 2 and 3).
 */
import { FORK_PLACEHOLDER } from '../../prompt/messages/fork-directive.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import type { AgentOrigin } from '../../protocol/session/swarm-records.js';
import { StorageError } from '../../protocol/skein-error.js';
import { type FoldedState, foldRecords } from '../agent/journaled-state.js';
import { toolResult } from '../calls/tool-result.js';
import type { AgentNode } from './agent-node.js';

export interface ForkPoint {
  readonly seq: number;
  /** History of the agent up to the fork point. */
  readonly base: FoldedState;
}

/** Throws StorageError. */
export const forkPointOf = (node: AgentNode): ForkPoint => {
  const { journal } = node.deps;
  const { history } = journal;
  const offered = history.relations.offer?.seq ?? recordOffer(node);
  if (node.forkPoint?.seq !== offered) {
    node.forkPoint = { seq: offered, base: foldRecords([], journal) };
  }
  return node.forkPoint;
};

const recordOffer = ({ deps: { journal } }: AgentNode): number => {
  const blocks = [...journal.history.calls.keys()].map((call) =>
    toolResult(call, FORK_PLACEHOLDER, false),
  );
  return journal.record({ type: 'fork.offered', raw: `[${blocks.join(',')}]` }).seq;
};

/** Returns the history that a fork inherited, from the journals. Rejects with StorageError. */
export const inheritedBy = async (
  store: Pick<SessionStore, 'readJournal'>,
  session: string,
  inherits: AgentOrigin['inherits'],
  visited: readonly string[] = [],
): Promise<FoldedState | undefined> => {
  if (inherits === undefined) return undefined;
  const { agent, seq } = inherits;
  // Skein never writes such a record; only a tampered journal has it.
  if (visited.includes(agent)) throw new StorageError(`${agent} claims to be a fork of itself.`);
  const { records } = await store.readJournal(session, agent, seq);
  if (records.at(-1)?.seq !== seq) {
    throw new StorageError(
      `The journal of ${agent} has lost the record ${seq}, where its fork starts, so the fork cannot resume.`,
    );
  }
  const created = records.find((record) => record.type === 'agent.created');
  const parentInherits = created?.type === 'agent.created' ? created.origin?.inherits : undefined;
  return foldRecords(
    records,
    await inheritedBy(store, session, parentInherits, [...visited, agent]),
  );
};
