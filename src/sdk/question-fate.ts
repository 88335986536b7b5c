/** What came of a question that is not open any more, for whoever wanted to answer it. */
import { INBOX } from '../actors/inbox-surface.js';
import { SkeinError } from '../protocol/errors.js';
import type { SwarmEvent } from '../protocol/events.js';
import type { SessionStore } from '../protocol/store.js';
import { liveSessions } from './swarm-remote.js';

/** In a sentence; undefined when no session that runs has asked it, or it is still open. */
export const questionFate = async (
  store: SessionStore,
  question: string,
): Promise<string | undefined> => {
  for (const { id } of await liveSessions(store)) {
    const ruling = await rulingIn(store.events(id), question);
    if (ruling !== undefined) return fateText(ruling);
  }
  return undefined;
};

const rulingIn = async (
  events: AsyncIterable<SwarmEvent>,
  question: string,
): Promise<SwarmEvent | undefined> => {
  let asked: SwarmEvent | undefined;
  try {
    for await (const event of events) {
      const { type, agent, call } = event;
      if (type === 'permission.requested' && event.question === question) asked = event;
      if (asked === undefined || type !== 'permission.ruled' || event.behavior === 'ask') continue;
      if (agent === asked.agent && call === asked.call) return event;
    }
  } catch (error) {
    // An index that cannot be read is reported by those who show it.
    if (!(error instanceof SkeinError)) throw error;
  }
  return undefined;
};

const fateText = ({ behavior, by, reason }: SwarmEvent): string => {
  if (typeof by !== 'string') return `The question is gone. ${String(reason)}`;
  const who = by === INBOX ? 'somebody in another terminal' : by;
  return `Too late: ${who} has ${behavior === 'allow' ? 'allowed' : 'denied'} it already.`;
};
