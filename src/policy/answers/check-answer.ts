/** Checks that an answer to a permission question is signed, in time and for this call (law 6). */
import { createPublicKey, verify } from 'node:crypto';
import {
  type AnswerRefusal,
  claimBytes,
  type SignedAnswer,
  type SurfaceKey,
  signedAnswer,
} from '../../protocol/permission/signed-answer.js';

/** State of a question when an answer arrives, as its agent knows it. */
interface PendingQuestion {
  readonly question: string;
  readonly agent: string;
  readonly call: string;
  /** Digest of the input that would run. */
  readonly inputDigest: string;
  /** Public keys of all surfaces that may answer. */
  readonly keys: readonly SurfaceKey[];
  /** Agent id of the parent, whose policy may answer. Undefined for the lead. */
  readonly parent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Reason for which the question takes no more answers. Undefined while it is open. */
  readonly closed: 'already-answered' | 'withdrawn' | 'out-of-time' | undefined;
}

type CheckedAnswer =
  | { readonly answer: SignedAnswer }
  | { readonly refusal: AnswerRefusal; readonly surface: string | undefined };

export const checkAnswer = (input: unknown, question: PendingQuestion): CheckedAnswer => {
  const parsed = signedAnswer.safeParse(input);
  if (!parsed.success) return { refusal: 'malformed', surface: undefined };
  const answer = parsed.data;
  const refusal = refusalOf(answer, question);
  return refusal === undefined ? { answer } : { refusal, surface: answer.surface };
};

/** Checks the signature first, because the fields of an unknown or forged answer cannot be trusted. */
const refusalOf = (answer: SignedAnswer, question: PendingQuestion): AnswerRefusal | undefined => {
  // A person on several machines has one surface name and one key for each machine.
  const named = question.keys.filter(({ id }) => id === answer.surface && id !== question.agent);
  if (named.length === 0) return 'unknown-surface';
  const key = named.find((candidate) => isSignedBy(candidate, answer));
  if (key === undefined) return 'forged';
  if (key.answersFor !== undefined && key.answersFor !== question.parent) return 'not-the-parent';
  if (answer.question !== question.question) return 'other-question';
  if (answer.agent !== question.agent) return 'other-agent';
  if (answer.call !== question.call) return 'other-call';
  if (answer.inputDigest !== question.inputDigest) return 'other-input';
  if (!isWithin(answer.issuedAt, question)) return 'out-of-time';
  return question.closed;
};

/** Tolerance for clocks that differ between machines or are set while a question is open. */
const CLOCK_SKEW_MS = 60_000;

const isWithin = (issuedAt: number, { askedAt, expiresAt }: PendingQuestion): boolean =>
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
    // An unreadable key or signature is not a valid signature.
    return false;
  }
};

/** Completes "The answer was refused: …", for people and for the journal. */
export const ANSWER_REFUSAL_TEXT: Readonly<Record<AnswerRefusal, string>> = {
  malformed: 'it is not a signed answer',
  'unknown-surface': 'no surface with this name may answer',
  'not-the-parent': 'it comes from an agent that is not the parent',
  forged: 'its signature is not that of the surface it names',
  'other-question': 'it answers another question',
  'other-agent': 'it answers another agent',
  'other-call': 'it is about another call',
  'other-input': 'it is about an input other than the one that would run',
  'out-of-time': 'it was not given while the question was open',
  'already-answered': 'another answer came first',
  withdrawn: 'the question had been withdrawn',
};
