/**
 * Lease of a session as files: `lease/<epoch>`, a file per epoch. Each is created exclusively, so
 * that only one of two processes gets the next epoch. A lease is over when `<epoch>.released`
 * exists or when the owner's process is dead.
 */
import fs from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Lease, LeaseHolder, Leases } from '../../../protocol/session/leases.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { checkSessionId } from '../../shared/check-session-id.js';
import { refuseIfHeld } from '../../shared/refuse-if-held.js';
import { storageError } from '../../shared/storage-error.js';
import { readRegularFile } from '../io/open-regular-file.js';

export interface LeaseOwner {
  /** Unique name of the process, to detect a reused pid. */
  readonly marker: string;
  readonly pid: number;
}

export interface LeaseFile {
  readonly epoch: number;
  readonly isAfterRelease: boolean;
  release(): void;
}

interface LeaseRecord extends LeaseOwner {
  readonly host: string;
}

/** Leases of the sessions in a folder, `<root>/<session>/lease`. */
export class LeaseFiles implements Leases {
  private readonly root: string;
  private readonly owner: LeaseOwner;
  private readonly isAlive: (marker: string) => boolean;

  constructor(root: string, owner: LeaseOwner, isAlive: (marker: string) => boolean) {
    this.root = root;
    this.owner = owner;
    this.isAlive = isAlive;
  }

  async take(name: string): Promise<Lease> {
    const { release, ...lease } = takeLease(this.directory(name), this.owner, this.isAlive);
    return { ...lease, release: async () => release() };
  }

  async holder(name: string): Promise<LeaseHolder | undefined> {
    const directory = this.directory(name);
    if (!fs.existsSync(directory)) return undefined;
    return holderAt(directory, newestEpoch(directory), this.isAlive);
  }

  private directory(name: string): string {
    return join(this.root, checkSessionId(name), 'lease');
  }
}

const MAX_ATTEMPTS = 100;

/** Throws UsageError that names the holder if a live process has the lease. */
export const takeLease = (
  directory: string,
  owner: LeaseOwner,
  isAlive: (marker: string) => boolean,
): LeaseFile => {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const newest = newestEpoch(directory);
    refuseIfHeld(holderAt(directory, newest, isAlive));
    const epoch = newest + 1;
    const isAfterRelease = isReleased(directory, newest);
    if (!claim(directory, epoch, { ...owner, host: hostname() })) continue;
    // Other processes may have taken later epochs meanwhile, and removed this file.
    if (newestEpoch(directory) > epoch) fs.rmSync(join(directory, String(epoch)), { force: true });
    else {
      removeOlder(directory, epoch);
      return {
        epoch,
        isAfterRelease,
        release: () => fs.writeFileSync(join(directory, `${epoch}.released`), '', { mode: 0o600 }),
      };
    }
  }
  throw new UsageError('Too many processes are trying to open this session; try again.');
};

const holderAt = (
  directory: string,
  epoch: number,
  isAlive: (marker: string) => boolean,
): LeaseHolder | undefined => {
  if (epoch === 0 || isReleased(directory, epoch)) return undefined;
  const record = readLease(join(directory, String(epoch)));
  if (record === undefined) return undefined;
  const { pid, host, marker } = record;
  // Only its own machine knows if a process is alive.
  return host !== hostname() || isAlive(marker) ? { pid, host } : undefined;
};

const isReleased = (directory: string, epoch: number): boolean =>
  fs.existsSync(join(directory, `${epoch}.released`));

const newestEpoch = (directory: string): number =>
  Math.max(0, ...fs.readdirSync(directory).map((name) => Number.parseInt(name, 10) || 0));

const readLease = (path: string): LeaseRecord | undefined => {
  try {
    const value = JSON.parse(readRegularFile(path).toString()) as Partial<LeaseRecord>;
    if (typeof value.marker !== 'string' || typeof value.pid !== 'number') return undefined;
    return { marker: value.marker, pid: value.pid, host: value.host ?? hostname() };
  } catch {
    return undefined;
  }
};

/**
 * Links a complete file into place, so that no process reads a partial lease. Returns false if the
 * epoch is taken.
 */
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

const removeOlder = (directory: string, epoch: number): void => {
  for (const name of fs.readdirSync(directory)) {
    const older = Number.parseInt(name, 10);
    if (older < epoch) fs.rmSync(join(directory, name), { force: true });
  }
};
