/** Finds requests of an agent, and the part of a request body that existed before its newest message. */
import type { RequestRecord } from '../../src/simulator/request-log.js';

interface Message {
  readonly role: string;
}

const messagesOf = (body: Buffer): readonly Message[] =>
  (JSON.parse(body.toString()) as { readonly messages: readonly Message[] }).messages;

/** Bodies of requests in which the user, or a parent, says `text`. Oldest first. */
export const requestsWith = (requests: readonly RequestRecord[], text: string): readonly Buffer[] =>
  requests
    .filter(({ path }) => path.startsWith('/v1/messages'))
    .map(({ body }) => body)
    .filter((body) =>
      JSON.stringify(messagesOf(body).filter(({ role }) => role === 'user')).includes(text),
    );

/** Returns the oldest body that `requestsWith` finds. Throws if it finds none. */
export const firstRequestWith = (requests: readonly RequestRecord[], text: string): Buffer => {
  const [first] = requestsWith(requests, text);
  if (first === undefined) throw new Error(`no request has the text ${text}`);
  return first;
};

/** Returns the newest body that `requestsWith` finds. Throws if it finds none. */
export const lastRequestWith = (requests: readonly RequestRecord[], text: string): Buffer => {
  const last = requestsWith(requests, text).at(-1);
  if (last === undefined) throw new Error(`no request has the text ${text}`);
  return last;
};

/** The text before the newest message: options, tools, system and earlier messages, with cache breakpoints. */
export const beforeNewestMessage = (body: Buffer): string => {
  const newest = JSON.stringify(messagesOf(body).at(-1));
  const text = body.toString();
  if (!text.endsWith(`${newest}]}`)) throw new Error('not a request body of ours');
  return text.slice(0, -`${newest}]}`.length);
};

/** The text up to the end of a prompt in the newest message. Throws if the newest message lacks the prompt. */
export const upToPrompt = (body: Buffer, prompt: string): string => {
  const text = body.toString();
  const quoted = JSON.stringify(prompt);
  const at = text.indexOf(quoted, beforeNewestMessage(body).length);
  if (at === -1) throw new Error('the newest message does not have the prompt');
  return text.slice(0, at + quoted.length);
};

/** Returns the place where two texts differ, with some text around it. Returns undefined if they are equal. */
export const firstDifference = (expected: string, found: string): string | undefined => {
  if (expected === found) return undefined;
  let at = 0;
  while (expected[at] === found[at]) at += 1;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 60), at + 60));
  return `at ${at}: expected …${around(expected)}…, found …${around(found)}…`;
};
