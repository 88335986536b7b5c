/** Delivers a letter to an agent of the swarm in any state of its life (law 9). */
import { oversizeOf, oversizeText } from '../../context/window/oversize-of.js';
import { AgentRefusal } from '../../protocol/agent/agents.js';
import { ANSWER_PREFIX } from '../../protocol/agent/team-message.js';
import type { JournalBody } from '../../protocol/session/journal-record.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { AgentDeps } from '../agent/agent.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { Swarm } from '../swarm/swarm.js';
import { type AgentEntry, isLive } from '../tree/agent-registry.js';

export type Letter = Omit<JournalBody & { readonly type: 'letter.received' }, 'type'>;

/**
 * `refused`: a person stopped the agent, and only a person can resume it. `lost`: the agent cannot
 * be restarted.
 */
export type Delivery = 'delivered' | 'resumed' | 'held' | 'refused' | 'lost';

/** Maximum letters from agents that an agent has not read yet (law 14). */
export const MAX_LETTERS_FROM_AGENTS = 1_000;
const MAX_CHARACTERS_FROM_AGENTS = 1_000_000;

/**
 * Delivers a letter to an agent that is running, idle, ending or ended. Idempotent. Rejects with
 * StorageError or AgentRefusal.
 */
export const deliverLetter = async (
  swarm: Swarm,
  entry: AgentEntry,
  letter: Letter,
): Promise<Delivery> => {
  const { from, raw, letter: id } = letter;
  for (;;) {
    await waitUntilEnded(swarm, entry, from);
    if (entry.status === 'stopped') return 'refused';
    const remote = swarm.remote?.has(entry) ? swarm.remote : undefined;
    if (remote?.belongsToLead(entry)) return remote.forwardToLead(entry, letter);
    // A descendant of a remote agent runs in the same process as that agent, even if this
    // process does not know it.
    const isRemote = isLive(entry) || entry.tag.kind !== 'background';
    if (remote !== undefined && isRemote) return remote.deliver(entry, letter);
    const { child } = entry;
    if (child === undefined) {
      let isRead = false;
      let refusal: AgentRefusal | undefined;
      const isRestarted = await swarm.restart(entry, ({ deps }) => {
        const { journal } = deps;
        isRead = true;
        if (journal.hasLetter(id)) return false;
        refusal = tooLong(letter, deps) ?? mailboxFull(letter, journal, swarm);
        // Restart even with a full mailbox: otherwise only a person could write to the agent.
        if (refusal === undefined) journal.record({ type: 'letter.received', ...letter });
        return true;
      });
      if (!isRestarted) return 'lost';
      if (refusal !== undefined) throw refusal;
      if (isRead) return 'resumed';
    } else {
      const { journal } = child.deps;
      const refusal = tooLong(letter, child.deps) ?? mailboxFull(letter, journal, swarm);
      if (refusal !== undefined) throw refusal;
      if (child.agent !== undefined) child.agent.submit(from, raw, id);
      else if (!journal.hasLetter(id)) journal.record({ type: 'letter.received', ...letter });
      return 'delivered';
    }
  }
};

/**
 * Waits until an ending agent has ended, because it would not read the letter before. Rejects with
 * AgentRefusal if the sender is ending too and cannot wait.
 */
export const waitUntilEnded = async (
  swarm: Swarm,
  entry: AgentEntry,
  from: string,
): Promise<void> => {
  while (isEnding(entry)) {
    if (senderEndsToo(swarm, from)) throw new AgentRefusal('both agents are ending');
    await new Promise((resolve) => entry.listeners.add(resolve));
  }
};

const isEnding = ({ child, life }: AgentEntry): boolean => {
  if (child === undefined) return false;
  const isStopping = life?.value === 'stopping' && child.deps.staysIdle;
  return life?.value === 'ending' || isStopping || child.agent?.state === 'stopped';
};

/** True if the sender or an ancestor of it is ending. An ancestor waits for the sender to end. */
const senderEndsToo = ({ registry }: Swarm, id: string): boolean => {
  const sender = registry.get(id);
  const isAbove = (entry: AgentEntry) =>
    sender !== undefined && registry.isBelow(sender, entry.tag.id);
  return [...registry.all()].some(
    (entry) => isEnding(entry) && (entry === sender || isAbove(entry)),
  );
};

/** Returns a refusal if the letter would block every later request of its reader. */
const tooLong = (
  { letter, raw }: Letter,
  { journal, modelName, windowOf }: Pick<AgentDeps, 'journal' | 'modelName' | 'windowOf'>,
): AgentRefusal | undefined => {
  const oversize = oversizeOf(raw, [windowOf(modelName).window]);
  if (oversize === undefined || journal.hasLetter(letter)) return undefined;
  return new AgentRefusal(
    `the message ${oversizeText(oversize)}. Save the text to a file and name the file`,
  );
};

/**
 * Returns a refusal if too many letters are unread. Letters of people and answers to a request are
 * never refused.
 */
const mailboxFull = (
  { letter, from, raw }: Letter,
  journal: JournaledState,
  { lead, registry }: Pick<Swarm, 'lead' | 'registry'>,
): AgentRefusal | undefined => {
  const isFromAgent = from === lead.id || registry.get(from) !== undefined;
  const isAnswer = letter.startsWith(ANSWER_PREFIX);
  if (!isFromAgent || isAnswer || journal.hasLetter(letter)) return undefined;
  const { letters } = journal.history;
  let characters = raw.length;
  for (const waiting of letters.values()) characters += waiting.length;
  if (letters.size < MAX_LETTERS_FROM_AGENTS && characters <= MAX_CHARACTERS_FROM_AGENTS) {
    return undefined;
  }
  return new AgentRefusal(
    `its mailbox is full (${letters.size} unread letters). Write again when it has read some`,
  );
};

/**
 * Delivers a letter to the lead. A lead that a person stopped reads it when a person resumes it.
 * Throws AgentRefusal if too many letters are unread.
 */
export const deliverToLead = async (swarm: Swarm, letter: Letter): Promise<Delivery> => {
  const { lead, registry, remote } = swarm;
  const { from, raw, letter: id } = letter;
  const { agent, deps } = lead;
  if (remote !== undefined && lead.isRemote) return remote.deliver({ tag: lead }, letter);
  const refusal = tooLong(letter, deps) ?? mailboxFull(letter, deps.journal, { lead, registry });
  if (refusal !== undefined) throw refusal;
  try {
    if (agent !== undefined) agent.submit(from, raw, id);
    else if (!deps.journal.hasLetter(id))
      deps.journal.record({ type: 'letter.received', ...letter });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return 'lost';
  }
  return agent?.isHeld === true ? 'held' : 'delivered';
};
