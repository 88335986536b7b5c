/** What a person's key has signed, for processes that get it from a store that others can write. */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from '../../lib/canonical-json.js';

type Claims = Readonly<Record<string, unknown>>;

/** `kind` keeps a statement from ever being taken for one of another kind. */
export const signStatement = (kind: string, claims: Claims, key: KeyObject): string => {
  const signature = sign(null, bytesOf(kind, claims), key).toString('base64url');
  return JSON.stringify({ ...claims, signature });
};

/** One of these people has said all of it. */
export const isSigned = (
  kind: string,
  { signature, ...claims }: Claims & { readonly signature: string },
  publicKeys: readonly string[],
): boolean =>
  publicKeys.some((key) =>
    verify(null, bytesOf(kind, claims), publicKey(key), Buffer.from(signature, 'base64url')),
  );

const bytesOf = (kind: string, claims: Claims): Buffer =>
  Buffer.from(`skein ${kind}\n${canonicalJson(claims)}`);

const publicKey = (key: string): KeyObject =>
  createPublicKey({ key: Buffer.from(key, 'base64url'), format: 'der', type: 'spki' });
