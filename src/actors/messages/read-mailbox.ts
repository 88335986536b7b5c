/**
 * Reads what comes for an agent. That agents of its own have ended is taken in side by side: a thousand may
 * end at once, and each has a journal to be read. All else is taken in alone, in the order in which it came.
 */
import type { z } from 'zod';
import { type AgentMail, agentMail } from '../../protocol/agent/agent-mail.js';
import { SkeinError, StorageError } from '../../protocol/errors.js';
import type { Inbox, MailLetter } from '../../protocol/session/mailbox.js';

/**
 * Resolves when what it says is on record. Rejects with a SkeinError where it cannot be: with a StorageError
 * when somebody else may have to take it in, as when the signal aborts first.
 */
export type Receive = (mail: AgentMail, signal: AbortSignal) => Promise<void>;

const MOST_AT_ONCE = 64;

/** Until the signal aborts. Rejects with a StorageError; what was not acknowledged is given again. */
export const readMail = async (
  inbox: Inbox,
  receive: Receive,
  signal: AbortSignal,
): Promise<void> => {
  const inHand = new Set<Promise<void>>();
  const failed = new AbortController();
  const over = AbortSignal.any([signal, failed.signal]);
  const takeIn = (letter: MailLetter): void => {
    const receiver = (mail: AgentMail) => receive(mail, over);
    const work: Promise<void> = deliver(inbox, letter, receiver)
      .catch((error: unknown) => failed.abort(error))
      .finally(() => inHand.delete(work));
    inHand.add(work);
  };
  try {
    for (;;) {
      const letter = await inbox.next(over);
      if (letter === undefined || over.aborted) break;
      const isEnd = isEndOfAgent(letter);
      if (!isEnd) await Promise.all(inHand);
      takeIn(letter);
      if (!isEnd) await Promise.all(inHand);
      else if (inHand.size === MOST_AT_ONCE) await Promise.race(inHand);
    }
  } finally {
    await Promise.all(inHand);
  }
  failed.signal.throwIfAborted();
};

const isEndOfAgent = ({ body }: MailLetter): boolean =>
  typeof body === 'object' && body !== null && 'type' in body && body.type === 'ended';

type TakeIn = (mail: AgentMail) => Promise<void>;

const deliver = async (inbox: Inbox, letter: MailLetter, receive: TakeIn): Promise<void> => {
  const refusal = await taken(letter.body, receive);
  if (refusal === undefined) await inbox.acknowledge(letter.id);
  else await inbox.bury(letter.id, refusal);
};

/** Why it cannot be delivered; undefined when it was. */
const taken = async (body: unknown, receive: TakeIn): Promise<string | undefined> => {
  const mail = agentMail.safeParse(body);
  if (!mail.success) return whyNot(mail.error);
  try {
    await receive(mail.data);
    return undefined;
  } catch (error) {
    // Nothing can be written here any more: whoever has the agent then gets it.
    if (!(error instanceof SkeinError) || error instanceof StorageError) throw error;
    return error.message;
  }
};

const whyNot = ({ issues }: z.ZodError): string =>
  issues.find(({ code }) => code === 'custom')?.message ??
  'It is nothing that agents write to each other.';
