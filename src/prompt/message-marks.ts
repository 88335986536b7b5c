/** Which messages of a request end with a cache mark (K9). */

export interface SpeakerOf {
  readonly role: 'user' | 'assistant';
}

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
