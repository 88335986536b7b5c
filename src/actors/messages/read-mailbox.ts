/**
 * Reads the mailbox of an agent. Letters about ended children are received in parallel, because a
 * thousand may end at once and each has a journal to read. All other mail is received one by one,
 * in order.
 */
import type { z } from 'zod';
import { type AgentMail, agentMail } from '../../protocol/agent/agent-mail.js';
import type { Inbox, MailLetter } from '../../protocol/session/mailbox.js';
import { SkeinError, StorageError } from '../../protocol/skein-error.js';

/**
 * Resolves when the mail is recorded. Rejects with SkeinError if it cannot be recorded; with
 * StorageError if another process must receive it, for example when the signal aborts first.
 */
export type ReceiveMail = (mail: AgentMail, signal: AbortSignal) => Promise<void>;

const MAX_CONCURRENT_ENDS = 64;

/**
 * Reads mail until the signal aborts. Rejects with StorageError; unacknowledged mail is delivered
 * again.
 */
export const readMailbox = async (
  inbox: Inbox,
  receive: ReceiveMail,
  signal: AbortSignal,
): Promise<void> => {
  const running = new Set<Promise<void>>();
  const failed = new AbortController();
  const over = AbortSignal.any([signal, failed.signal]);
  const startReceiving = (letter: MailLetter): void => {
    const receiver = (mail: AgentMail) => receive(mail, over);
    const work: Promise<void> = handle(inbox, letter, receiver)
      .catch((error: unknown) => failed.abort(error))
      .finally(() => running.delete(work));
    running.add(work);
  };
  try {
    for (;;) {
      const letter = await inbox.next(over);
      if (letter === undefined || over.aborted) break;
      const isEnd = isEndOfAgent(letter);
      if (!isEnd) await Promise.all(running);
      startReceiving(letter);
      if (!isEnd) await Promise.all(running);
      else if (running.size === MAX_CONCURRENT_ENDS) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
  failed.signal.throwIfAborted();
};

const isEndOfAgent = ({ body }: MailLetter): boolean =>
  typeof body === 'object' && body !== null && 'type' in body && body.type === 'ended';

type ReceiveLetter = (mail: AgentMail) => Promise<void>;

const handle = async (inbox: Inbox, letter: MailLetter, receive: ReceiveLetter): Promise<void> => {
  const refusal = await receiveChecked(letter.body, receive);
  if (refusal === undefined) await inbox.acknowledge(letter.id);
  else await inbox.moveToDeadLetters(letter.id, refusal);
};

/** Returns the reason why the mail cannot be delivered, or undefined if it was received. */
const receiveChecked = async (
  body: unknown,
  receive: ReceiveLetter,
): Promise<string | undefined> => {
  const mail = agentMail.safeParse(body);
  if (!mail.success) return problemOf(mail.error);
  try {
    await receive(mail.data);
    return undefined;
  } catch (error) {
    // The journal cannot be written any more, so the next owner of the agent gets the mail.
    if (!(error instanceof SkeinError) || error instanceof StorageError) throw error;
    return error.message;
  }
};

const problemOf = ({ issues }: z.ZodError): string =>
  issues.find(({ code }) => code === 'custom')?.message ??
  'The letter is not a valid message between agents.';
