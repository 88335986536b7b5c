/**
 * Who owns a session: `lease/<epoch>`, one file per epoch, created exclusively, so that of two
 * processes that want the next epoch exactly one gets it. A lease is over when its file says
 * released or when its owner no longer lives.
 */
import fs from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../../protocol/errors.js';
import type { Lease, LeaseHolder, Leases } from '../../../protocol/session/leases.js';
import { refuseIfHeld } from '../../shared/lease-refusal.js';
import { checkSessionId } from '../../shared/session-meta.js';
import { readRegular } from '../io/regular-file.js';
import { storageError } from '../journal/line-file.js';

export interface LeaseOwner {
  /** Names the process so that a reused pid is not taken for it. */
  readonly marker: string;
  readonly pid: number;
}

export interface LeaseFile {
  readonly epoch: number;
  release(): void;
}

interface LeaseRecord extends LeaseOwner {
  readonly host: string;
}

/** The leases of the sessions in a folder, `<root>/<session>/lease`. */
export class LeaseFiles implements Leases {
  private readonly root: string;
  private readonly owner: LeaseOwner;
  private readonly lives: (marker: string) => boolean;

  constructor(root: string, owner: LeaseOwner, lives: (marker: string) => boolean) {
    this.root = root;
    this.owner = owner;
    this.lives = lives;
  }

  async take(name: string): Promise<Lease> {
    const { epoch, release } = takeLease(this.directory(name), this.owner, this.lives);
    return { epoch, release: async () => release() };
  }

  async holder(name: string): Promise<LeaseHolder | undefined> {
    const directory = this.directory(name);
    if (!fs.existsSync(directory)) return undefined;
    return holderAt(directory, newestEpoch(directory), this.lives);
  }

  private directory(name: string): string {
    return join(this.root, checkSessionId(name), 'lease');
  }
}

const ATTEMPTS = 100;

export const takeLease = (
  directory: string,
  owner: LeaseOwner,
  lives: (marker: string) => boolean,
): LeaseFile => {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const newest = newestEpoch(directory);
    refuseIfHeld(holderAt(directory, newest, lives));
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
