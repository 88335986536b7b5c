/**
 * Surface with a key pair of its own, which signs its answers. The private key never leaves this
 * module.
 */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Clock } from '../../protocol/clock.js';
import type {
  PermissionAnswer,
  PermissionQuestion,
  Surface,
} from '../../protocol/permission/permission-question.js';
import {
  type AnswerClaims,
  claimBytes,
  type KnownSurface,
  type SignedAnswer,
} from '../../protocol/permission/signed-answer.js';
import { inputDigest } from './input-digest.js';

/**
 * Gives the surface a key pair and signs its answers. `id` names the surface in the journal:
 * `terminal`, `sdk`, `stream-json`.
 */
export const signingSurface = (id: string, surface: Surface, clock: Clock): KnownSurface => {
  const { publicKey, signer } = newSigner(id, clock);
  return {
    id,
    publicKey,
    async ask(question, signal) {
      // Sign the input that was shown, not the digest that the asking agent claims.
      const shown = asShown(question);
      const digest = inputDigest(shown.input);
      return signer(question, digest, await surface.ask(shown, signal));
    },
    ...(surface.choose !== undefined && { choose: surface.choose.bind(surface) }),
  };
};

type Signer = (
  question: PermissionQuestion,
  digest: string,
  answer: PermissionAnswer,
) => SignedAnswer;

export const newSigner = (
  surface: string,
  clock: Clock,
): { readonly publicKey: string; readonly signer: Signer } => {
  const pair = generateKeyPairSync('ed25519');
  const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64url');
  return {
    publicKey,
    signer({ id, agent, call }, digest, answer) {
      const subject = { question: id, agent, call, inputDigest: digest };
      return signClaims({ ...subject, answer, surface, issuedAt: clock.now() }, pair.privateKey);
    },
  };
};

export const signClaims = (claims: AnswerClaims, key: KeyObject): SignedAnswer => ({
  ...claims,
  signature: sign(null, claimBytes(claims), key).toString('base64url'),
});

/**
 * Returns a copy, so a surface cannot change the input that would run or that other surfaces are
 * shown.
 */
const asShown = (question: PermissionQuestion): PermissionQuestion => ({
  ...question,
  input: JSON.parse(JSON.stringify(question.input) ?? 'null'),
});
