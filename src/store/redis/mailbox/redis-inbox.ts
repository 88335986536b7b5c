/**
 * Reads the letters of an address when a hint says that letters may have arrived. Letters that
 * former readers did not acknowledge are delivered first, each alone and with a count. A letter
 * that crashes its reader again and again becomes a dead letter, so that it does not block the
 * letters after it.
 */
import { z } from 'zod';
import { Wakeup } from '../../../lib/async/wakeup.js';
import {
  type DeadLetter,
  type Fence,
  type Inbox,
  MAX_DEAD_LETTERS,
  type MailLetter,
} from '../../../protocol/session/mailbox.js';
import { StorageError } from '../../../protocol/skein-error.js';
import { parseLetter } from '../../shared/format-letter.js';
import type {
  LuaScript,
  RedisArgument,
  RedisConnections,
  RedisReply,
} from '../connection/redis-connections.js';
import { waitUnlessAway } from '../connection/redis-outage.js';
import { refusalError } from '../connection/retry-while-refused.js';
import { KEEP_MS, type SwarmKeys } from '../connection/swarm-keys.js';
import { MAIL_SCRIPTS } from './mail-scripts.js';

/** Number of letters that a script call reads. */
const MAX_BATCH = 32;
/** Maximum length of a foreign entry's text in the dead letters. */
const MAX_FOREIGN_LENGTH = 10_000;

interface RedisInboxOptions {
  readonly redis: RedisConnections;
  readonly keys: SwarmKeys;
  readonly address: string;
  /** Unique name of this reader. */
  readonly reader: string;
  readonly maxDeliveries: number;
  /** Fence of the reader. Undefined if any process may read the address. */
  readonly fence: Fence | undefined;
  /** Called when the inbox is closed, replaced or fenced off. */
  readonly onClose: () => void;
}

interface FoundLetter {
  readonly streamId: string;
  readonly letter: MailLetter;
}

const pairs = z.array(z.union([z.string(), z.number()])).transform((flat) => {
  const result: (readonly [string, string])[] = [];
  for (let at = 0; at < flat.length; at += 2) result.push([String(flat[at]), String(flat[at + 1])]);
  return result;
});

export class RedisInbox implements Inbox {
  private readonly options: RedisInboxOptions;
  private readonly wakeup = new Wakeup();
  /** Letters by id that were delivered and not acknowledged. */
  private readonly delivered = new Map<string, FoundLetter>();
  /** Letters that were read and not delivered yet. */
  private readonly fetched: FoundLetter[] = [];
  /** Letters that former readers did not acknowledge. The next letter is last. */
  private unacknowledged: { readonly streamId: string; readonly deliveries: number }[] = [];
  private last = '0-0';
  private mayHaveMore = true;
  private isFetching = false;
  private failure: StorageError | undefined;
  private isClosed = false;

  constructor(options: RedisInboxOptions) {
    this.options = options;
  }

  /**
   * Takes the address over. Waits while Redis is away. Rejects with StorageError if the reader is
   * fenced off.
   */
  async start(): Promise<void> {
    const reply = await this.runScript(MAIL_SCRIPTS.open, this.keys, [KEEP_MS]);
    if (reply === 'fenced') throw fencedOff(this.options.address);
    const pending = pairsIn(reply);
    this.last = pending.at(-1)?.[0] ?? this.last;
    this.unacknowledged = pending
      .map(([streamId, count]) => ({ streamId, deliveries: Number(count) }))
      .reverse();
  }

  /** Checks for new letters. */
  wake(): void {
    this.mayHaveMore = true;
    this.wakeup.notify();
  }

  async next(signal: AbortSignal): Promise<MailLetter | undefined> {
    while (!signal.aborted && !this.isClosed) {
      const next = this.fetched.shift();
      if (next !== undefined) {
        this.delivered.set(next.letter.id, next);
        return next.letter;
      }
      if (this.failure !== undefined) {
        const { failure } = this;
        this.failure = undefined;
        throw failure;
      }
      if (this.mayHaveMore && !this.isFetching) void this.fetchLetters();
      await this.wakeup.wait(signal);
    }
    return undefined;
  }

  async acknowledge(id: string): Promise<void> {
    const delivered = this.delivered.get(id);
    if (delivered === undefined) return;
    await this.remove(delivered.streamId, id);
    this.delivered.delete(id);
  }

  async moveToDeadLetters(id: string, reason: string): Promise<void> {
    const delivered = this.delivered.get(id);
    if (delivered === undefined) return;
    await this.bury(delivered.streamId, { ...delivered.letter, reason });
    this.delivered.delete(id);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.end();
    await waitUnlessAway(this.options.redis, this.runScript(MAIL_SCRIPTS.leave, this.allKeys, []));
  }

  private get keys(): readonly string[] {
    const { keys, address } = this.options;
    return [keys.mail(address), keys.mailReaders, keys.scopes];
  }

  private get allKeys(): readonly string[] {
    const { keys, address } = this.options;
    return [...this.keys, keys.mailIds(address), keys.deadLetters(address), keys.addresses];
  }

  private end(): void {
    this.isClosed = true;
    this.wakeup.notify();
    this.options.onClose();
  }

  /** Fetches letters and notifies waiting readers. Never runs twice at the same time. */
  private async fetchLetters(): Promise<void> {
    this.isFetching = true;
    try {
      const earlier = this.unacknowledged.at(-1);
      if (earlier === undefined) await this.takeNew();
      else {
        await this.takeAgain(earlier.streamId, earlier.deliveries);
        this.unacknowledged.pop();
      }
    } catch (error) {
      this.mayHaveMore = true;
      this.failure = refusalError(this.options.redis, error);
    }
    this.isFetching = false;
    this.wakeup.notify();
  }

  private async takeNew(): Promise<void> {
    this.mayHaveMore = false;
    const taken = await this.run(MAIL_SCRIPTS.take, this.keys, [this.last, MAX_BATCH, KEEP_MS]);
    for (const [streamId, text] of taken) {
      await this.receive(streamId, text);
      this.last = streamId;
    }
    if (taken.length === MAX_BATCH) this.mayHaveMore = true;
  }

  private async takeAgain(streamId: string, deliveries: number): Promise<void> {
    const { address, maxDeliveries } = this.options;
    const [entry] = await this.run(MAIL_SCRIPTS.takeAgain, this.keys, [streamId, deliveries + 1]);
    if (entry === undefined) return;
    const [, text] = entry;
    const letter = parseLetter(text, address);
    if (typeof letter === 'string' || deliveries < maxDeliveries) {
      return this.receive(streamId, text);
    }
    const reason = `It was delivered ${deliveries} times and never acknowledged.`;
    await this.bury(streamId, { ...letter, reason });
  }

  private async receive(streamId: string, text: string): Promise<void> {
    const { address } = this.options;
    const letter = parseLetter(text, address);
    if (typeof letter === 'string') {
      const body = text.slice(0, MAX_FOREIGN_LENGTH);
      const foreign = { id: `foreign-${streamId}`, from: 'unknown', to: address, sentAt: 0, body };
      return this.bury(streamId, {
        ...foreign,
        reason: `${letter} It was among the letters.`,
      });
    }
    const existing =
      this.delivered.get(letter.id) ?? this.fetched.find((found) => found.letter.id === letter.id);
    if (existing === undefined) this.fetched.push({ streamId, letter });
    // A second entry with the same id, written by another client without the checks of SEND.
    else if (existing.streamId !== streamId) await this.remove(streamId, letter.id);
  }

  private async remove(streamId: string, id: string): Promise<void> {
    const { keys, address } = this.options;
    await this.run(MAIL_SCRIPTS.acknowledge, [...this.keys, keys.mailIds(address)], [streamId, id]);
  }

  private async bury(streamId: string, letter: DeadLetter): Promise<void> {
    const dead = [JSON.stringify(letter), MAX_DEAD_LETTERS, KEEP_MS];
    await this.run(MAIL_SCRIPTS.bury, this.allKeys, [streamId, letter.id, ...dead]);
  }

  /**
   * Runs a script and returns its reply in pairs. Closes the inbox if the reader was replaced or
   * fenced off.
   */
  private async run(
    script: LuaScript,
    keys: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<readonly (readonly [string, string])[]> {
    const reply = await this.runScript(script, keys, args);
    if ((reply === 'replaced' || reply === 'fenced') && !this.isClosed) this.end();
    return pairsIn(reply);
  }

  private async runScript(
    script: LuaScript,
    keys: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<RedisReply> {
    const { redis, address, reader, fence } = this.options;
    const claim = [address, reader, fence?.scope ?? '', fence?.claim ?? ''];
    try {
      return await redis.run(script, keys, [...claim, ...args]);
    } catch (error) {
      throw refusalError(redis, error);
    }
  }
}

const pairsIn = (reply: RedisReply) => pairs.safeParse(reply).data ?? [];

const fencedOff = (address: string): StorageError =>
  new StorageError(`Another process has taken over ${address}; nothing more is read here.`);
