/**
 * Signed answer to a permission question. The surface that answers signs it, which binds the answer to
 * one question of one agent about one exact input (law 6).
 */
import { z } from 'zod';
import { canonicalJson } from '../../lib/json/canonical-json.js';
import { SkeinError } from '../skein-error.js';
import type {
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
  PersonQuestion,
} from './permission-question.js';

const permissionAnswer = z.discriminatedUnion('behavior', [
  z.strictObject({
    behavior: z.literal('allow'),
    scope: z.enum(['once', 'session', 'project']).exactOptional(),
    updatedInput: z.unknown().exactOptional(),
  }),
  z.strictObject({
    behavior: z.literal('deny'),
    reason: z.string(),
    interrupt: z.boolean().exactOptional(),
  }),
]);

export const signedAnswer = z.strictObject({
  question: z.string(),
  agent: z.string(),
  call: z.string(),
  /** Digest of the input that the surface displayed, computed by the surface. */
  inputDigest: z.string(),
  answer: permissionAnswer,
  surface: z.string(),
  /** Milliseconds since 1970, on the surface's clock. */
  issuedAt: z.number(),
  /** Ed25519 signature over all other fields, base64url. */
  signature: z.string(),
});
export type SignedAnswer = z.infer<typeof signedAnswer>;
export type AnswerClaims = Omit<SignedAnswer, 'signature'>;

/** Returns the signed bytes. The first line prevents reuse of the signature for another kind of statement. */
export const claimBytes = (claims: AnswerClaims): Buffer =>
  Buffer.from(`skein answer 1\n${canonicalJson(claims)}`);

/** Why an answer is rejected. */
export const ANSWER_REFUSALS = [
  'malformed',
  'unknown-surface',
  'not-the-parent',
  'forged',
  'other-question',
  'other-agent',
  'other-call',
  'other-input',
  'out-of-time',
  'already-answered',
  'withdrawn',
] as const;
export type AnswerRefusal = (typeof ANSWER_REFUSALS)[number];

export const ANSWER_OUTCOMES = ['accepted', 'refused', 'failed'] as const;

/** Outcome of one surface for one question, for the journal. */
export interface SurfaceOutcome {
  readonly surface: string;
  readonly outcome: (typeof ANSWER_OUTCOMES)[number];
  readonly refusal?: AnswerRefusal;
  /** Explanation for people. */
  readonly detail: string;
}

/** Public key of a surface that may answer. Part of the agent's own configuration. */
export interface SurfaceKey {
  readonly id: string;
  /** Ed25519 key, SPKI, base64url. */
  readonly publicKey: string;
  /** Id of the agent whose policy answers here. Left out for people. */
  readonly answersFor?: string;
}

/** A surface with a key, so that its answers can be verified. */
export interface KnownSurface extends SurfaceKey {
  /** Resolves with a SignedAnswer, which the caller verifies. A rejection means no answer. */
  ask(question: PermissionQuestion, signal: AbortSignal): Promise<unknown>;
  /** Left out if the surface answers permission questions only. Rejects if the person declines to answer. */
  choose?(question: PersonQuestion, signal: AbortSignal): Promise<PersonAnswer>;
  /** True if the question ends without an answer once all other surfaces have failed. */
  readonly isOptional?: boolean;
  /** Keys of other surfaces whose answers this surface may forward unchanged. */
  readonly forwardableKeys?: readonly SurfaceKey[];
}

/** Abort reason of the signal of `ask`: the question was decided or withdrawn. */
export class QuestionClosed extends SkeinError {
  readonly code = 'question-closed';
  readonly decision: Decision;
  constructor(decision: Decision) {
    super('The question is decided or withdrawn.');
    this.decision = decision;
  }
}

/** Result of a question. `by` is the surface that answered, undefined if no answer came in time. */
export type Decision = PermissionAnswer & {
  readonly by?: string;
  /** The winning answer, for forwarding. */
  readonly signed?: SignedAnswer;
};
