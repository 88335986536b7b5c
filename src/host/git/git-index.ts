/** Git index of a directory: the listing of tracked files, and contents of objects. */
import fs from 'node:fs';
import { join } from 'node:path';
import { findGitDirectory } from './find-git-directory.js';
import { hardenedGit } from './git-command.js';
import type { GitListing } from './git-listing.js';

const LISTING_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

export class GitIndex {
  private readonly root: string;
  private readonly environment: Readonly<Record<string, string>>;
  private last: { readonly stamp: string; readonly listing: GitListing } | undefined;

  /** `environment` is the environment of git. */
  constructor(root: string, environment: Readonly<Record<string, string>>) {
    this.root = root;
    this.environment = environment;
  }

  /**
   * Returns undefined without a repository or a usable git. Starts no process and returns the same object
   * while the index is unchanged.
   */
  async listing(): Promise<GitListing | undefined> {
    const location = findGitDirectory(this.root);
    if (location?.top === undefined) return undefined;
    const stamp = stampOf(join(location.directory, 'index'));
    if (stamp === undefined) return undefined;
    if (this.last?.stamp === stamp) return this.last.listing;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const git = await hardenedGit(this.root, location, this.environment, signal);
    const answer = await git?.(['ls-files', '-s', '-z'], LISTING_BYTES);
    if (answer?.code !== 0) return undefined;
    this.last = { stamp, listing: { root: this.root, bytes: answer.bytes } };
    return this.last.listing;
  }

  /** Returns the contents of those objects that git still has. */
  async read(objects: readonly string[], maxBytes: number): Promise<ReadonlyMap<string, Buffer>> {
    const location = objects.length === 0 ? undefined : findGitDirectory(this.root);
    if (location === undefined) return new Map();
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const git = await hardenedGit(this.root, location, this.environment, signal);
    const input = Buffer.from([...new Set(objects)].map((object) => `${object}\n`).join(''));
    const answer = await git?.(['cat-file', '--batch'], maxBytes, input);
    return answer === undefined ? new Map() : objectsIn(answer.bytes);
  }
}

const stampOf = (path: string): string | undefined => {
  const stats = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && [stats.size, stats.mtimeNs, stats.ctimeNs, stats.ino].join();
};

/** `<object> blob <size>`, a newline, the contents, a newline, and so on. */
const objectsIn = (bytes: Buffer): ReadonlyMap<string, Buffer> => {
  const objects = new Map<string, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    if (end === -1) break;
    const head = /^([0-9a-f]+) blob (\d+)$/.exec(bytes.toString('latin1', at, end));
    at = end + 1;
    if (head === null) continue;
    const contents = bytes.subarray(at, at + Number(head[2]));
    if (contents.length < Number(head[2])) break;
    objects.set(head[1] ?? '', contents);
    at += contents.length + 1;
  }
  return objects;
};
