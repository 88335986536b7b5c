/**
 * Follows the lines of a Redis list. A server that has lost its last writes shortens the list, and
 * other lines take the numbers of the lost lines: the follower continues with the new lines.
 */
import { hash } from 'node:crypto';
import type { RedisConnections } from '../connection/redis-connections.js';
import type { SwarmKeys } from '../connection/swarm-keys.js';
import { LINES_PER_READ, wholeLine } from './list-lines.js';

/** Number of digests that are kept to find the first new line after a loss. */
const MAX_DIGESTS = 2_000;

export class FollowedList {
  private readonly redis: RedisConnections;
  private readonly keys: SwarmKeys;
  private readonly list: string;
  private count = 0;
  /** Digests of the newest lines that were read, oldest first. */
  private digests: string[] = [];

  constructor(redis: RedisConnections, keys: SwarmKeys, list: string) {
    this.redis = redis;
    this.keys = keys;
    this.list = list;
  }

  /** Returns the next lines, or undefined if there are none. */
  async next(): Promise<readonly string[] | undefined> {
    const last = this.digests.at(-1);
    const [known, ...added] = await this.read(this.count - 1, last === undefined ? 0 : 1);
    if (last === undefined) return this.take(known === undefined ? [] : [known, ...added]);
    if (known !== undefined && digestOf(known) === last) return this.take(added);
    await this.moveBack();
    return this.take(await this.read(this.count, 0));
  }

  /** Reads lines from an index, and `more` lines than usual. */
  private async read(from: number, more: number): Promise<readonly string[]> {
    const first = Math.max(0, from);
    const last = first + LINES_PER_READ + more - 1;
    return (await this.redis.call('LRANGE', this.list, first, last)) as string[];
  }

  private async take(lines: readonly string[]): Promise<readonly string[] | undefined> {
    if (lines.length === 0) return undefined;
    const { redis, keys } = this;
    const whole = await Promise.all(lines.map((line) => wholeLine(redis, keys, line)));
    this.count += lines.length;
    this.digests.push(...lines.map(digestOf));
    if (this.digests.length > 2 * MAX_DIGESTS) this.digests = this.digests.slice(-MAX_DIGESTS);
    return whole;
  }

  /** Moves back to the last line that the list still has, or to the start if none of them is known. */
  private async moveBack(): Promise<void> {
    const first = this.count - this.digests.length;
    const lines = await this.redis.call('LRANGE', this.list, first, this.count - 1);
    const lost = this.digests.findIndex(
      (digest, at) => digestOf((lines as string[])[at] ?? '') !== digest,
    );
    this.digests = this.digests.slice(0, lost);
    this.count = lost === 0 ? 0 : first + lost;
  }
}

const digestOf = (line: string): string => hash('sha256', line, 'base64').slice(0, 22);
