/**
 * Who owns a session: `lease/<epoch>`, one file per epoch, created exclusively, so that of two
 * processes that want the next epoch exactly one gets it. A lease is over when its file says
 * released or when its owner no longer lives.
 */
import fs from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../protocol/errors.js';
import type { LeaseHolder } from '../protocol/store.js';
import { storageError } from './line-file.js';
import { readRegular } from './regular-file.js';

export interface LeaseOwner {
  /** Names the process so that a reused pid is not taken for it. */
  readonly marker: string;
  readonly pid: number;
}

export interface Lease {
  readonly epoch: number;
  release(): void;
}

interface LeaseRecord extends LeaseOwner {
  readonly host: string;
}

const ATTEMPTS = 100;

export const takeLease = (
  directory: string,
  owner: LeaseOwner,
  lives: (marker: string) => boolean,
): Lease => {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const newest = newestEpoch(directory);
    refuseIfOwned(holderAt(directory, newest, lives));
    const epoch = newest + 1;
    if (!claim(directory, epoch, { ...owner, host: hostname() })) continue;
    // Others may have come and gone meanwhile, and have tidied this very epoch away.
    if (newestEpoch(directory) > epoch) fs.rmSync(join(directory, String(epoch)), { force: true });
    else {
      forgetOlder(directory, epoch);
      return {
        epoch,
        release: () => fs.writeFileSync(join(directory, `${epoch}.released`), '', { mode: 0o600 }),
      };
    }
  }
  throw new UsageError('Too many processes are trying to open this session; try again.');
};

/** Who holds the lease now, without wanting it. */
export const leaseHolder = (
  directory: string,
  lives: (marker: string) => boolean,
): LeaseHolder | undefined =>
  fs.existsSync(directory) ? holderAt(directory, newestEpoch(directory), lives) : undefined;

const holderAt = (
  directory: string,
  epoch: number,
  lives: (marker: string) => boolean,
): LeaseHolder | undefined => {
  if (epoch === 0 || fs.existsSync(join(directory, `${epoch}.released`))) return undefined;
  const record = readLease(join(directory, String(epoch)));
  if (record === undefined) return undefined;
  const { pid, host, marker } = record;
  // Of a process on another machine only that machine knows.
  return host !== hostname() || lives(marker) ? { pid, host } : undefined;
};

const newestEpoch = (directory: string): number =>
  Math.max(0, ...fs.readdirSync(directory).map((name) => Number.parseInt(name, 10) || 0));

const refuseIfOwned = (holder: LeaseHolder | undefined): void => {
  if (holder === undefined) return;
  const { pid, host } = holder;
  throw new UsageError(
    host === hostname()
      ? `The session is open in another process (pid ${pid}); stop that one first, or use --fork-session.`
      : `The session is open on ${host} (pid ${pid}); stop it there first.`,
  );
};

const readLease = (path: string): LeaseRecord | undefined => {
  try {
    const value = JSON.parse(readRegular(path).toString()) as Partial<LeaseRecord>;
    if (typeof value.marker !== 'string' || typeof value.pid !== 'number') return undefined;
    return { marker: value.marker, pid: value.pid, host: value.host ?? hostname() };
  } catch {
    return undefined;
  }
};

/** Links a finished file into place, so that nobody ever reads half a lease. */
const claim = (directory: string, epoch: number, record: LeaseRecord): boolean => {
  const draft = join(directory, `draft.${record.pid}`);
  try {
    fs.writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
    fs.linkSync(draft, join(directory, String(epoch)));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw storageError(error, directory);
  } finally {
    fs.rmSync(draft, { force: true });
  }
};

const forgetOlder = (directory: string, epoch: number): void => {
  for (const name of fs.readdirSync(directory)) {
    const older = Number.parseInt(name, 10);
    if (older < epoch) fs.rmSync(join(directory, name), { force: true });
  }
};
