/**
 * Guarded lookup of a host name: refuses private addresses. The connection uses the checked
 * address, so DNS rebinding has no effect.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPrivateAddress } from './is-private-address.js';

export type Lookup = (
  hostname: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Refuses the name if any of its addresses is private. */
export const guardedLookup =
  (lookup: Lookup, refusal: () => Error): LookupFunction =>
  (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, []);
      if (addresses.some(({ address }) => isPrivateAddress(address))) return done(refusal(), []);
      answer(addresses, options, done);
    });
  };

/** Looks up without the check, for hosts that a person allowed. */
export const plainLookup =
  (lookup: Lookup): LookupFunction =>
  (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) =>
      error ? done(error, []) : answer(addresses, options, done),
    );
  };

const answer = (
  addresses: LookupAddress[],
  { all }: LookupOptions,
  done: Parameters<LookupFunction>[2],
): void => {
  const [first] = addresses;
  if (first === undefined) {
    done(Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' }), []);
  } else if (all === true) done(null, addresses);
  else done(null, first.address, first.family);
};
