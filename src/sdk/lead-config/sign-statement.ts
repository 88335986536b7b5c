/** Signs statements with a person's key, and verifies statements read from an untrusted store. */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from '../../lib/json/canonical-json.js';

type Claims = Readonly<Record<string, unknown>>;

/** Returns the claims with their signature as JSON. `kind` is signed too, so kinds cannot be confused. */
export const signStatement = (kind: string, claims: Claims, key: KeyObject): string => {
  const signature = sign(null, bytesOf(kind, claims), key).toString('base64url');
  return JSON.stringify({ ...claims, signature });
};

/** True if one of the keys has signed all claims. */
export const verifyStatement = (
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
