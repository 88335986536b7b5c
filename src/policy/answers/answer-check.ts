/** Whether an answer to a permission question counts (law 6), decided from what it says and who signed it. */
import { createPublicKey, verify } from 'node:crypto';
import {
  type AnswerRefusal,
  claimBytes,
  type SignedAnswer,
  type SurfaceKey,
  signedAnswer,
} from '../../protocol/permission/answer.js';

/** A question as its agent knows it at the moment an answer comes in. */
export interface AnswerTerms {
  readonly question: string;
  readonly agent: string;
  readonly call: string;
  /** Of the input that would run. */
  readonly inputDigest: string;
  /** Whoever may answer: nobody else has a key that counts. */
  readonly keys: readonly SurfaceKey[];
  /** Whose policy may answer; the lead of a session has no parent. */
  readonly parent: string | undefined;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** Set once the question has been decided or is nobody's business any more. */
  readonly closed: 'already-answered' | 'withdrawn' | 'out-of-time' | undefined;
}

export type CheckedAnswer =
  | { readonly answer: SignedAnswer }
  | { readonly refusal: AnswerRefusal; readonly surface: string | undefined };

export const checkAnswer = (given: unknown, terms: AnswerTerms): CheckedAnswer => {
  const parsed = signedAnswer.safeParse(given);
  if (!parsed.success) return { refusal: 'malformed', surface: undefined };
  const answer = parsed.data;
  const refusal = refusalOf(answer, terms);
  return refusal === undefined ? { answer } : { refusal, surface: answer.surface };
};

/** Who signed comes first: what an unknown or forged answer says is worth nothing. */
const refusalOf = (answer: SignedAnswer, terms: AnswerTerms): AnswerRefusal | undefined => {
  // People on several machines answer under one name, each with a key of their own.
  const named = terms.keys.filter(({ id }) => id === answer.surface && id !== terms.agent);
  if (named.length === 0) return 'unknown-surface';
  const key = named.find((it) => isSignedBy(it, answer));
  if (key === undefined) return 'forged';
  if (key.deskOf !== undefined && key.deskOf !== terms.parent) return 'not-the-parent';
  if (answer.question !== terms.question) return 'other-question';
  if (answer.agent !== terms.agent) return 'other-agent';
  if (answer.call !== terms.call) return 'other-call';
  if (answer.inputDigest !== terms.inputDigest) return 'other-input';
  if (!isWithin(answer.issuedAt, terms)) return 'out-of-time';
  return terms.closed;
};

/** Clocks of two machines, or of one that is set meanwhile, may differ by this much. */
const CLOCK_SKEW_MS = 60_000;

const isWithin = (issuedAt: number, { askedAt, expiresAt }: AnswerTerms): boolean =>
  issuedAt >= askedAt - CLOCK_SKEW_MS && issuedAt <= expiresAt + CLOCK_SKEW_MS;

const isSignedBy = ({ publicKey }: SurfaceKey, { signature, ...claims }: SignedAnswer): boolean => {
  try {
    const key = createPublicKey({
      key: Buffer.from(publicKey, 'base64url'),
      format: 'der',
      type: 'spki',
    });
    if (key.asymmetricKeyType !== 'ed25519') return false;
    return verify(null, claimBytes(claims), key, Buffer.from(signature, 'base64url'));
  } catch {
    // A key or a signature that cannot be read proves nothing.
    return false;
  }
};

/** In words, for people and for the journal. */
export const REFUSAL_WORDS: Readonly<Record<AnswerRefusal, string>> = {
  malformed: 'it is no signed answer',
  'unknown-surface': 'nobody with this name may answer',
  'not-the-parent': 'it comes from an agent that is not the parent',
  forged: 'its signature is not that of the surface it names',
  'other-question': 'it answers another question',
  'other-agent': 'it answers another agent',
  'other-call': 'it is about another call',
  'other-input': 'it is about another input than the one that would run',
  'out-of-time': 'it was not given while the question was open',
  'already-answered': 'another answer came first',
  withdrawn: 'the question had been withdrawn',
};
