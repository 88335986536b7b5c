/** How a letter reaches an agent of the swarm, wherever that is: at work, at rest, just ending, or ended (law 9). */

import { SpawnRefusal } from '../../protocol/agent/swarm.js';
import { ANSWER } from '../../protocol/agent/team-message.js';
import { UsageError } from '../../protocol/errors.js';
import type { JournalBody } from '../../protocol/session/journal.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { Swarm } from '../swarm/swarm.js';
import { type AgentEntry, isLive } from '../tree/agent-registry.js';

export type Letter = Omit<JournalBody & { readonly type: 'letter.received' }, 'type'>;

/** `refused`: a person stopped it, and only a person lets it go on. `lost`: nothing is left to go on with. */
export type Delivered = 'delivered' | 'resumed' | 'held' | 'refused' | 'lost';

/** What agents wrote to one that has not read it yet may be so many letters, and so long in all (law 14). */
export const MOST_WAITING_LETTERS = 1_000;
export const MOST_WAITING_CHARACTERS = 1_000_000;

/** Once, however often it is sent. Rejects with a StorageError or a SpawnRefusal. */
export const deliver = async (
  swarm: Swarm,
  entry: AgentEntry,
  letter: Letter,
): Promise<Delivered> => {
  const { from, raw, letter: id } = letter;
  for (;;) {
    await untilOver(swarm, entry, from);
    if (entry.status === 'stopped') return 'refused';
    const elsewhere = swarm.remotes?.has(entry) ? swarm.remotes : undefined;
    if (elsewhere?.isLeadsBusiness(entry)) return elsewhere.passOn(entry, letter);
    // One below an agent elsewhere is where that one is, whatever is known of it here.
    const isThere = isLive(entry) || entry.tag.kind !== 'background';
    if (elsewhere !== undefined && isThere) return elsewhere.deliver(entry, letter);
    const { child } = entry;
    if (child === undefined) {
      let isRead = false;
      let full: SpawnRefusal | undefined;
      const revived = await swarm.revive(entry, ({ deps: { notebook } }) => {
        isRead = true;
        if (notebook.hasLetter(id)) return false;
        full = noRoomFor(letter, notebook, swarm);
        // It goes on with what waits: else nobody but a person could ever write to it again.
        if (full === undefined) notebook.record({ type: 'letter.received', ...letter });
        return true;
      });
      if (!revived) return 'lost';
      if (full !== undefined) throw full;
      if (isRead) return 'resumed';
    } else {
      const { notebook } = child.deps;
      const full = noRoomFor(letter, notebook, swarm);
      if (full !== undefined) throw full;
      if (child.agent !== undefined) child.agent.submit(from, raw, id);
      else if (!notebook.hasLetter(id)) notebook.record({ type: 'letter.received', ...letter });
      return 'delivered';
    }
  }
};

/**
 * What one that is just ending gets it would not read any more: it goes on with it when it has ended.
 * Rejects with a SpawnRefusal where the sender ends with it, and so cannot wait for that.
 */
export const untilOver = async (swarm: Swarm, entry: AgentEntry, from: string): Promise<void> => {
  while (isGoing(entry)) {
    if (endsToo(swarm, from)) throw new SpawnRefusal('it is just ending, and so are you');
    await new Promise((resolve) => entry.listeners.add(resolve));
  }
};

const isGoing = ({ child, isEnding, halting }: AgentEntry): boolean =>
  child !== undefined && (isEnding || halting !== undefined || child.agent?.state === 'stopped');

/** It is going itself, or somebody that it works for is: those wait for it. */
const endsToo = ({ roster }: Swarm, id: string): boolean => {
  const own = roster.get(id);
  const isAbove = (entry: AgentEntry) => own !== undefined && roster.isBelow(own, entry.tag.id);
  return [...roster.all()].some((entry) => isGoing(entry) && (entry === own || isAbove(entry)));
};

/** People are never refused, nor the one answer to what the agent has asked for itself. */
const noRoomFor = (
  { letter, from, raw }: Letter,
  notebook: JournaledState,
  { lead, roster }: Pick<Swarm, 'lead' | 'roster'>,
): SpawnRefusal | undefined => {
  const isFromAgent = from === lead.id || roster.get(from) !== undefined;
  const isAnswer = letter.startsWith(ANSWER);
  if (!isFromAgent || isAnswer || notebook.hasLetter(letter)) return undefined;
  const { letters } = notebook.history;
  let characters = raw.length;
  for (const waiting of letters.values()) characters += waiting.length;
  if (letters.size < MOST_WAITING_LETTERS && characters <= MOST_WAITING_CHARACTERS) {
    return undefined;
  }
  return new SpawnRefusal(
    `${letters.size} letters wait there that it has not read, and there is no room for this one. Write again when it has read them`,
  );
};

/**
 * The lead is always there; what a person has stopped reads it when a person lets it go on. Throws a
 * SpawnRefusal where too much waits for it.
 */
export const deliverToLead = async (swarm: Swarm, letter: Letter): Promise<Delivered> => {
  const { lead, roster, remotes } = swarm;
  const { from, raw, letter: id } = letter;
  const { agent, deps } = lead;
  if (remotes !== undefined && lead.isElsewhere) return remotes.deliver({ tag: lead }, letter);
  const full = noRoomFor(letter, deps.notebook, { lead, roster });
  if (full !== undefined) throw full;
  try {
    if (agent !== undefined) agent.submit(from, raw, id);
    else if (!deps.notebook.hasLetter(id))
      deps.notebook.record({ type: 'letter.received', ...letter });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return 'lost';
  }
  return agent?.isHeld === true ? 'held' : 'delivered';
};
