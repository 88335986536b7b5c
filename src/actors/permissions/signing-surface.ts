/** Gives a surface a key pair of its own, and signs what it answers. The private key never leaves here. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Clock } from '../../protocol/clock.js';
import {
  type AnswerClaims,
  claimBytes,
  type KnownSurface,
  type SignedAnswer,
} from '../../protocol/permission/answer.js';
import type {
  PermissionAnswer,
  PermissionQuestion,
  Surface,
} from '../../protocol/permission/permission.js';
import { inputDigest } from './input-digest.js';

/** `id` is what the journal calls it: `terminal`, `sdk`, `stream-json`. */
export const signingSurface = (id: string, surface: Surface, clock: Clock): KnownSurface => {
  const { publicKey, signer } = newSigner(id, clock);
  return {
    id,
    publicKey,
    async ask(question, signal) {
      // What is signed is what was shown, and not what the asker says that it is about.
      const shown = asShown(question);
      const digest = inputDigest(shown.input);
      return signer(question, digest, await surface.ask(shown, signal));
    },
    ...(surface.choose !== undefined && { choose: surface.choose.bind(surface) }),
  };
};

export type Signer = (
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
      const about = { question: id, agent, call, inputDigest: digest };
      return signClaims({ ...about, answer, surface, issuedAt: clock.now() }, pair.privateKey);
    },
  };
};

export const signClaims = (claims: AnswerClaims, key: KeyObject): SignedAnswer => ({
  ...claims,
  signature: sign(null, claimBytes(claims), key).toString('base64url'),
});

/** A copy: whoever is asked cannot change what would run, nor what another is shown. */
const asShown = (question: PermissionQuestion): PermissionQuestion => ({
  ...question,
  input: JSON.parse(JSON.stringify(question.input) ?? 'null'),
});
