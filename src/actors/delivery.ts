/** How a letter reaches an agent of the swarm, wherever that is: at work, at rest, just ending, or ended (law 9). */
import { UsageError } from '../protocol/errors.js';
import type { JournalBody } from '../protocol/journal.js';
import type { Entry } from './roster.js';
import type { Swarm } from './swarm.js';

export type Letter = Omit<JournalBody & { readonly type: 'letter.received' }, 'type'>;

/** `refused`: a person stopped it, and only a person lets it go on. `lost`: nothing is left to go on with. */
export type Delivered = 'delivered' | 'resumed' | 'held' | 'refused' | 'lost';

/** Once, however often it is sent. Rejects with a StorageError or a SpawnRefusal. */
export const deliver = async (swarm: Swarm, entry: Entry, letter: Letter): Promise<Delivered> => {
  const { from, raw, letter: id } = letter;
  for (;;) {
    if (entry.status === 'stopped') return 'refused';
    const { child } = entry;
    if (child === undefined) {
      let isRead = false;
      const revived = await swarm.revive(entry, ({ deps: { notebook } }) => {
        isRead = true;
        if (notebook.hasLetter(id)) return false;
        notebook.record({ type: 'letter.received', ...letter });
        return true;
      });
      if (!revived) return 'lost';
      if (isRead) return 'resumed';
    } else if (child.agent?.state === 'stopped') await untilOver(entry);
    else {
      const { notebook } = child.deps;
      if (child.agent !== undefined) child.agent.submit(from, raw, id);
      else if (!notebook.hasLetter(id)) notebook.record({ type: 'letter.received', ...letter });
      return 'delivered';
    }
  }
};

const untilOver = ({ listeners }: Entry): Promise<unknown> =>
  new Promise((resolve) => listeners.add(resolve));

/** The lead is always there; what a person has stopped reads it when a person lets it go on. */
export const deliverToLead = ({ lead }: Swarm, letter: Letter): Delivered => {
  const { from, raw, letter: id } = letter;
  const { agent, deps } = lead;
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
