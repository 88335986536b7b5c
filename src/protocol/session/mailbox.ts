/**
 * Letters between processes and agents. A letter that was sent survives its sender; it is given to its
 * reader until it is acknowledged, so a reader that dies in between gets it again and must know it by
 * its id (law 9).
 */
import { z } from 'zod';

export const letterSchema = z.object({
  id: z.string(),
  /** Where an answer goes; the order of letters is kept per sender. */
  from: z.string(),
  to: z.string(),
  /** Milliseconds since 1970, by the sender's clock. */
  sentAt: z.number(),
  body: z.unknown(),
});
export type MailLetter = z.infer<typeof letterSchema>;

/** A letter may be this long, as JSON; a longer one is an error for its sender. */
export const LONGEST_LETTER = 1_000_000;
/** Letters that may wait at one address; one more is an error for its sender. */
export const MOST_WAITING_LETTERS = 1_000;

/** Dead letters that are kept at one address; the oldest make room for newer ones. */
export const MOST_DEAD_LETTERS = 1_000;

/** Who may write for a part of a swarm: the process that has it under this claim, and no other. */
export interface Fence {
  readonly scope: string;
  /** Nobody else ever has the same. */
  readonly claim: string;
}

export interface Mailbox {
  /**
   * One with the id of a letter that still waits at the address is the same letter. Resolves when it
   * survives this process. Rejects with a UsageError that says what to do, and with a StorageError when
   * somebody else has what the fence is about. Where only one process can own a session there is none.
   */
  send(letter: MailLetter, fence?: Fence): Promise<void>;
  /**
   * One reader at a time for each address: a second one of this process is refused. Between processes
   * whoever reads has the session's lease, or an address that nobody else has. Rejects with a StorageError
   * when the fence is somebody else's by now: that one reads. When it is so later, this one is given nothing
   * more, and what it acknowledges or buries stays for the other.
   */
  open(address: string, fence?: Fence): Promise<Inbox>;
  /** Letters that could not be delivered, with the reason: for people. */
  deadLetters(): Promise<readonly DeadLetter[]>;
  close(): Promise<void>;
}

export interface Inbox {
  /**
   * The oldest letter that this reader was not given yet; undefined when the signal aborts first, when the
   * inbox is closed, and when somebody else reads there, or is to. Waiting keeps no process alive: who waits for an answer holds a deadline.
   */
  next(signal: AbortSignal): Promise<MailLetter | undefined>;
  /** It is journaled: nobody needs it any more. Of a letter that is not here it is no error. */
  acknowledge(id: string): Promise<void>;
  /** It cannot be delivered; it is kept where people can see it. */
  bury(id: string, reason: string): Promise<void>;
  /** Letters that are not acknowledged are given to the next reader again. */
  close(): Promise<void>;
}

export interface DeadLetter extends MailLetter {
  readonly reason: string;
}
