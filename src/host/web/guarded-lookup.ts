/**
 * Looks a name up and refuses it when it leads to a private address. What is checked here is what is
 * connected to, so a name that changes its mind in between gains nothing.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPrivateAddress } from './is-private-address.js';

export type Lookup = (
  hostname: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** One private address among public ones is enough: a name that has both is up to something. */
export const guardedLookup =
  (lookup: Lookup, refusal: () => Error): LookupFunction =>
  (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, []);
      if (addresses.some(({ address }) => isPrivateAddress(address))) return done(refusal(), []);
      answer(addresses, options, done);
    });
  };

/** The same without the guard, for hosts that a person allowed. */
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
