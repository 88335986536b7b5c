/** Chooses the cache breakpoints in the messages of a request: two at most. */

export interface HasRole {
  readonly role: 'user' | 'assistant';
}

/** `at`: `end` is the end of the message, `shared` the end of its part that other agents share. */
export interface Breakpoint {
  readonly index: number;
  readonly at: 'end' | 'shared';
}

/** Cache state of the first request of a child agent. */
interface FirstRequestCache {
  /** Last breakpoint that the parent has cached; null if none. */
  readonly cached: Breakpoint | null;
  /** True if the shared part is cached already or this request writes it. */
  readonly shared: boolean;
  /** True if the child's own part is worth a cache entry. */
  readonly own: boolean;
}

/**
 * Returns the breakpoints of a child's first request. The parent's last breakpoint is cached
 * already, but not always in its newest answered message, because the parent may be a child itself.
 * The part that siblings share gets a breakpoint only if a request writes it (law 4). Messages get
 * two breakpoints at most, so a fork's own text gets its breakpoint with the second request.
 */
export const firstBreakpoints = (
  messages: readonly HasRole[],
  { cached, shared, own }: FirstRequestCache,
): readonly Breakpoint[] => {
  const newest = lastUser(messages, messages.length - 1);
  const breakpoints: Breakpoint[] = [
    ...(cached === null ? [] : [cached]),
    ...(shared ? [{ index: newest, at: 'shared' } as const] : []),
    ...(own ? [{ index: newest, at: 'end' } as const] : []),
  ];
  return breakpoints.slice(0, MAX_BREAKPOINTS);
};

const MAX_BREAKPOINTS = 2;

/**
 * Returns how much of the newest message is before a breakpoint. Undefined is the whole message.
 */
export const breakpointExtent = (
  messages: readonly HasRole[],
  breakpoints: readonly Breakpoint[] | undefined,
): 'shared' | 'nothing' | undefined => {
  if (breakpoints === undefined) return undefined;
  const newest = lastUser(messages, messages.length - 1);
  const found = breakpoints.filter(({ index }) => index === newest).map(({ at }) => at);
  if (found.includes('end')) return undefined;
  return found.includes('shared') ? 'shared' : 'nothing';
};

/**
 * Returns the indices of the newest answered user message and the newest user message. The answered
 * request has left a cache entry at the first; the next request will read up to the second. The
 * user message before the newest is no substitute, because a failed request may never have cached
 * it.
 */
export const breakpointMessages = (messages: readonly HasRole[]): readonly number[] => {
  const newest = lastUser(messages, messages.length - 1);
  const answered = newestAnswered(messages);
  return [...new Set([answered, newest])].filter((index) => index >= 0);
};

export const cacheBreakpoints = (messages: readonly HasRole[]): readonly Breakpoint[] =>
  breakpointMessages(messages).map((index) => ({ index, at: 'end' }));

/**
 * Returns the index of the newest user message before an assistant message, -1 if there is none.
 */
export const newestAnswered = (messages: readonly HasRole[]): number => {
  let last = messages.length - 1;
  while (messages[last]?.role === 'user') last -= 1;
  return lastUser(messages, last);
};

const lastUser = (messages: readonly HasRole[], from: number): number => {
  let index = from;
  while (messages[index]?.role === 'assistant') index -= 1;
  return index;
};
