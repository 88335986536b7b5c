/** Which messages of a request end with a cache mark (K9). */

export interface SpeakerOf {
  readonly role: 'user' | 'assistant';
}

/** `shared`: not at the end of the message, but behind what other agents begin with too. */
export interface Mark {
  readonly index: number;
  readonly at: 'end' | 'shared';
}

/** How the first request of an agent that works for another is marked. */
export interface FirstMarks {
  /** How far its parent has left in the cache what it begins with; null where nothing is. */
  readonly cached: Mark | null;
  /** What it shares is cached already, or this request is the one that writes it. */
  readonly shared: boolean;
  /** What is its own is worth an entry. */
  readonly own: boolean;
}

/**
 * The first request of a child. The parent's last marked block is cached already, and is not always in
 * its newest answered message: the parent may have begun like this itself. What siblings share is marked
 * where somebody writes it, and else nobody does (law 4). Marks of the conversation are two at most: a
 * fork's own words have to wait for its second request.
 */
export const firstMarks = (
  messages: readonly SpeakerOf[],
  { cached, shared, own }: FirstMarks,
): readonly Mark[] => {
  const newest = lastUser(messages, messages.length - 1);
  const marks: Mark[] = [
    ...(cached === null ? [] : [cached]),
    ...(shared ? [{ index: newest, at: 'shared' } as const] : []),
    ...(own ? [{ index: newest, at: 'end' } as const] : []),
  ];
  return marks.slice(0, MOST_MARKS);
};

const MOST_MARKS = 2;

/** How much of the newest message ends with one of these marks; undefined is all of it. */
export const markedOf = (
  messages: readonly SpeakerOf[],
  marks: readonly Mark[] | undefined,
): 'shared' | 'nothing' | undefined => {
  if (marks === undefined) return undefined;
  const newest = lastUser(messages, messages.length - 1);
  const found = marks.filter(({ index }) => index === newest).map(({ at }) => at);
  if (found.includes('end')) return undefined;
  return found.includes('shared') ? 'shared' : 'nothing';
};

/**
 * The newest user message, so that the next request can read up to it, and the newest one that was
 * answered: the request that was answered has left an entry there, however many blocks came since.
 * The one before the newest will not do: a request that failed may never have cached it.
 */
export const markedMessages = (messages: readonly SpeakerOf[]): readonly number[] => {
  const newest = lastUser(messages, messages.length - 1);
  const answered = newestAnswered(messages);
  return [...new Set([answered, newest])].filter((index) => index >= 0);
};

export const usualMarks = (messages: readonly SpeakerOf[]): readonly Mark[] =>
  markedMessages(messages).map((index) => ({ index, at: 'end' }));

/** The newest user message that an assistant message follows; -1 when there is none. */
export const newestAnswered = (messages: readonly SpeakerOf[]): number => {
  let last = messages.length - 1;
  while (messages[last]?.role === 'user') last -= 1;
  return lastUser(messages, last);
};

const lastUser = (messages: readonly SpeakerOf[], from: number): number => {
  let index = from;
  while (messages[index]?.role === 'assistant') index -= 1;
  return index;
};
