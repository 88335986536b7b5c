/**
 * Mailbox for letters between processes and agents. A sent letter survives its sender. It is delivered
 * until it is acknowledged, so after a crash a reader gets it again and must recognise it by its id
 * (law 9).
 */
import { z } from 'zod';

export const letterSchema = z.object({
  id: z.string(),
  /** Address for replies. Letters of one sender stay in order. */
  from: z.string(),
  to: z.string(),
  /** Milliseconds since 1970, on the sender's clock. */
  sentAt: z.number(),
  body: z.unknown(),
});
export type MailLetter = z.infer<typeof letterSchema>;

/** Maximum characters of a letter as JSON. A longer letter is an error for its sender. */
export const MAX_LETTER_LENGTH = 1_000_000;
/** Maximum unread letters at one address. A further letter is an error for its sender. */
export const MAX_UNREAD_LETTERS = 1_000;

/** Maximum dead letters at one address. The oldest are deleted first. */
export const MAX_DEAD_LETTERS = 1_000;

/** Proof that this process may write for a part of a swarm. */
export interface Fence {
  readonly scope: string;
  /** Unique token of the claim on the scope. */
  readonly claim: string;
}

export interface Mailbox {
  /**
   * Resolves when the letter would survive this process. Idempotent while a letter with the same id
   * waits at the address. Rejects with UsageError that says what to do, or with StorageError if another
   * process holds the scope of the fence. Stores that allow one process per session need no fence.
   */
  send(letter: MailLetter, fence?: Fence): Promise<void>;
  /**
   * Opens an address for its only reader. Rejects for a second reader of this process. Across processes
   * the reader must hold the session's lease or a unique address. Rejects with StorageError if another
   * process holds the scope of the fence. If that happens later, this reader gets no more letters, and
   * letters that it acknowledges or moves stay for the other reader.
   */
  open(address: string, fence?: Fence): Promise<Inbox>;
  /** Returns undeliverable letters with the reason, for people. */
  deadLetters(): Promise<readonly DeadLetter[]>;
  close(): Promise<void>;
}

export interface Inbox {
  /**
   * Resolves with the oldest letter that this reader has not received yet. Resolves with undefined if
   * the signal aborts, the inbox is closed, or another process reads the address. Waiting does not keep
   * the process alive, so a caller that waits for a reply must set a timer.
   */
  next(signal: AbortSignal): Promise<MailLetter | undefined>;
  /** Deletes a letter that was journaled. No error if the letter does not exist. */
  acknowledge(id: string): Promise<void>;
  /** Moves an undeliverable letter to the dead letters, where people can see it. */
  moveToDeadLetters(id: string, reason: string): Promise<void>;
  /** Closes the inbox. The next reader gets unacknowledged letters again. */
  close(): Promise<void>;
}

export interface DeadLetter extends MailLetter {
  readonly reason: string;
}
