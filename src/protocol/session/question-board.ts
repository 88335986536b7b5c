/** Board of open permission questions that other processes can read and answer. */
import { z } from 'zod';
import type { SignedAnswer } from '../permission/signed-answer.js';

/** Stored form of a PermissionQuestion. It is validated, because readers must not trust its writer. */
export const postedQuestion = z.object({
  id: z.string(),
  agent: z.string(),
  call: z.string(),
  tool: z.string(),
  input: z.unknown(),
  inputDigest: z.string(),
  description: z.string(),
  reason: z.string(),
  risk: z.enum(['low', 'medium', 'high']),
  cwd: z.string(),
  grant: z.string().exactOptional(),
  isAlwaysAsked: z.boolean().exactOptional(),
  blockedPath: z.string().exactOptional(),
  replaces: z
    .object({
      bytes: z.number(),
      lines: z.number().exactOptional(),
      text: z.string().exactOptional(),
    })
    .exactOptional(),
  /** Milliseconds since 1970, on the clock of the asking process. */
  askedAt: z.number(),
  /**
   * Public keys of the people whose answers count, so that a person with another key is told at once.
   * The asking process verifies every answer with its own list.
   */
  personKeys: z.array(z.string()).exactOptional(),
});
export type PostedQuestion = z.infer<typeof postedQuestion>;

/** Maximum characters of a question as JSON. A longer question cannot be posted. */
export const MAX_QUESTION_LENGTH = 4_000_000;
/** Maximum questions that `read` returns. Further questions are counted in `leftOut`. */
export const MAX_QUESTIONS = 1_000;

/** Questions of one session, for its owner. */
export interface QuestionBoard {
  /** Rejects with UsageError if the question cannot be posted. */
  post(question: PostedQuestion): Promise<void>;
  /** Removes a question. Idempotent. Never rejects. */
  withdraw(id: string): Promise<void>;
  /** Removes the questions of a dead owner. Never rejects. */
  clear(): Promise<void>;
}

/** Questions of one session, for all processes that can reach the store. */
export interface QuestionStore {
  readonly board: QuestionBoard;
  read(): Promise<PostedQuestions>;
  /** Calls `changed` soon after questions are added or removed. Returns the function that ends the watch. */
  watch(changed: () => void): () => void;
  readonly decisions: Decisions;
}

/** The first answer to each question, for all processes that can reach the store. */
export interface Decisions {
  /**
   * For the asking process: stores the answer unless there is one. Resolves with the winning answer.
   * Atomic. Rejects with UsageError or StorageError if the answer cannot be stored.
   */
  decide(signed: SignedAnswer): Promise<SignedAnswer>;
  /**
   * For other processes: like `decide`, but stores nothing if the question is not open. Resolves with
   * undefined if it is not open and has no answer.
   */
  answer(signed: SignedAnswer): Promise<SignedAnswer | undefined>;
  /** Resolves with the winning answer, if there is one. Rejects with StorageError. */
  find(question: string): Promise<SignedAnswer | undefined>;
  /**
   * For the asking process: resolves with the winning answer, whose signature the caller must verify.
   * Rejects with the signal's reason, or with StorageError if the stored value was no answer. Such a
   * value is deleted, and the caller may wait again.
   */
  waitFor(question: string, signal: AbortSignal): Promise<SignedAnswer>;
  /**
   * For the asking process: deletes exactly this answer, which was found invalid, so that the next
   * answer can win. Does not post the question again. No error if the answer does not exist.
   */
  retract(question: string, signed: SignedAnswer): Promise<void>;
}

export interface PostedQuestions {
  /** Oldest first. */
  readonly questions: readonly PostedQuestion[];
  /** Number of questions that are unreadable or above the limit. */
  readonly leftOut: number;
}
