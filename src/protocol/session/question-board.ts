/** Questions where other processes can see them, until they are decided. */
import { z } from 'zod';
import type { SignedAnswer } from '../permission/answer.js';

/** A PermissionQuestion as it is posted: whoever reads it may not trust whoever wrote it. */
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
  /** Milliseconds since 1970, by the clock of the process that asks. */
  askedAt: z.number(),
});
export type PostedQuestion = z.infer<typeof postedQuestion>;

/** A question may be this long, as JSON; a longer one is asked elsewhere or not at all. */
export const LONGEST_QUESTION = 4_000_000;
/** Questions of one session that are read at once; the rest is said to be there. */
export const MOST_QUESTIONS = 1_000;

/** Of one session, for its owner. */
export interface QuestionBoard {
  /** Rejects with a UsageError when it cannot be posted. */
  post(question: PostedQuestion): Promise<void>;
  /** Takes it away, also one that never was there. Never rejects. */
  withdraw(id: string): Promise<void>;
  /** What an owner that died has left. Never rejects. */
  clear(): Promise<void>;
}

/** The same for everybody who can reach the store: who sees questions, and who decides them. */
export interface QuestionDesk {
  readonly board: QuestionBoard;
  read(): Promise<PostedQuestions>;
  /**
   * Where processes on several machines may answer, the first answer is kept and all others hear whose
   * it was; undefined where the owner of the session decides.
   */
  readonly verdicts: Decisions | undefined;
}

export interface Decisions {
  /** Resolves with the answer that counts: this one, or the one that came first. Atomic. */
  decide(signed: SignedAnswer): Promise<SignedAnswer>;
  /**
   * Resolves with the answer as soon as there is one; whoever asked checks who has signed it. Rejects
   * with the signal's reason, and with a StorageError when something else lay in its place: that is gone
   * then, and whoever still wants to know may wait again.
   */
  decided(question: string, signal: AbortSignal): Promise<SignedAnswer>;
  /**
   * Takes away exactly this answer, for whoever asked and found that it does not count: the next one may
   * win then. The question is not posted again by it. Of one that is not there it is no error.
   */
  void(question: string, signed: SignedAnswer): Promise<void>;
  /** Told whenever questions come or go, a moment later at most. Returns what ends that. */
  watch(changed: () => void): () => void;
}

export interface PostedQuestions {
  /** Oldest first. */
  readonly questions: readonly PostedQuestion[];
  /** Those that cannot be read, or are too many. */
  readonly leftOut: number;
}
