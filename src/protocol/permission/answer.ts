/**
 * The answer to a permission question as it travels: signed by the surface that gave it, and bound to
 * one question of one agent about one exact input (law 6).
 */
import { z } from 'zod';
import { canonicalJson } from '../../lib/canonical-json.js';
import { SkeinError } from '../errors.js';
import type {
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
  PersonQuestion,
} from './permission.js';

export const permissionAnswer = z.discriminatedUnion('behavior', [
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
  /** Of the input that the surface has shown, worked out by the surface itself. */
  inputDigest: z.string(),
  answer: permissionAnswer,
  surface: z.string(),
  /** Milliseconds since 1970, by the clock of the surface. */
  issuedAt: z.number(),
  /** Ed25519 over everything else, in base64url. */
  signature: z.string(),
});
export type SignedAnswer = z.infer<typeof signedAnswer>;
export type AnswerClaims = Omit<SignedAnswer, 'signature'>;

/** What is signed. The first line keeps the key from ever signing another kind of statement. */
export const claimBytes = (claims: AnswerClaims): Buffer =>
  Buffer.from(`skein answer 1\n${canonicalJson(claims)}`);

/** Why an answer does not count. */
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

/** One thing that a surface did about a question, for the journal. */
export interface AnswerHeard {
  readonly surface: string;
  readonly outcome: (typeof ANSWER_OUTCOMES)[number];
  readonly refusal?: AnswerRefusal;
  /** In words. */
  readonly detail: string;
}

/** By which an agent knows those who may answer it; a part of its own configuration. */
export interface SurfaceKey {
  readonly id: string;
  /** Ed25519, SPKI in base64url. */
  readonly publicKey: string;
  /** Set when it is no person: the agent whose policy answers here. */
  readonly deskOf?: string;
}

/** Somebody who can be asked, and whose answers can be told from everybody else's. */
export interface KnownSurface extends SurfaceKey {
  /** Resolves with a SignedAnswer, which is checked. One that rejects has not answered. */
  ask(question: PermissionQuestion, signal: AbortSignal): Promise<unknown>;
  /** Left out by a surface that can only rule. Rejects when the person does not want to answer. */
  choose?(question: PersonQuestion, signal: AbortSignal): Promise<PersonAnswer>;
  /** It is asked beside others: once they all have failed, nobody waits for it. */
  readonly isBeside?: boolean;
  /** Those whose answers it may hand on as they are. */
  readonly handsOn?: readonly SurfaceKey[];
}

/** Why somebody need not answer any more: what the signal of `ask` aborts with. */
export class QuestionClosed extends SkeinError {
  readonly code = 'question-closed';
  readonly decision: Decision;
  constructor(decision: Decision) {
    super('The question is decided or withdrawn.');
    this.decision = decision;
  }
}

/** What came of a question, and whose answer it is; nobody's when there was none in time. */
export type Decision = PermissionAnswer & {
  readonly by?: string;
  /** The very answer that won, for whoever hands it on. */
  readonly signed?: SignedAnswer;
};
