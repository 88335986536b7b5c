/**
 * The reader of one address. It looks when it is told that something may be new. What readers before it
 * were given and did not acknowledge comes first, one by one, and is counted: a letter that brings its
 * reader down again and again ends among the dead ones, and takes none of those behind it along.
 */
import { z } from 'zod';
import { Wakeup } from '../../../lib/wakeup.js';
import { StorageError } from '../../../protocol/errors.js';
import {
  type DeadLetter,
  type Fence,
  type Inbox,
  type MailLetter,
  MOST_DEAD_LETTERS,
} from '../../../protocol/session/mailbox.js';
import { readLetter } from '../../shared/letter-rules.js';
import { unlessAway } from '../connection/change-hints.js';
import type { Argument, RedisConnections, Reply, Script } from '../connection/redis-connections.js';
import { refusedBy } from '../connection/redis-errors.js';
import { KEEP_MS, type SwarmKeys } from '../connection/redis-keys.js';
import { ACKNOWLEDGE, BURY, LEAVE, OPEN, TAKE, TAKE_AGAIN } from './mail-scripts.js';

/** Letters that are read at once. */
const MOST_AT_ONCE = 32;
/** Of something that is no letter, so much is kept for people to see. */
const LONGEST_FOREIGN = 10_000;

export interface InboxTerms {
  readonly broker: RedisConnections;
  readonly keys: SwarmKeys;
  readonly address: string;
  /** A name that nobody else reads under, ever. */
  readonly reader: string;
  readonly mostDeliveries: number;
  /** What lets this process read it; undefined where anybody may. */
  readonly fence: Fence | undefined;
  /** Told when it reads no more. */
  readonly closed: () => void;
}

interface Found {
  /** In the stream. */
  readonly place: string;
  readonly letter: MailLetter;
}

const pairs = z.array(z.union([z.string(), z.number()])).transform((flat) => {
  const all: (readonly [string, string])[] = [];
  for (let at = 0; at < flat.length; at += 2) all.push([String(flat[at]), String(flat[at + 1])]);
  return all;
});

export class RedisInbox implements Inbox {
  private readonly terms: InboxTerms;
  private readonly bell = new Wakeup();
  /** By id: given, and not acknowledged. */
  private readonly given = new Map<string, Found>();
  /** Read, and not given yet. */
  private readonly found: Found[] = [];
  /** Places of those that somebody before was given, and how often; the next one last. */
  private left: { readonly place: string; readonly deliveries: number }[] = [];
  private last = '0-0';
  private mayHaveMore = true;
  private isLooking = false;
  private failure: StorageError | undefined;
  private isClosed = false;

  constructor(terms: InboxTerms) {
    this.terms = terms;
  }

  /** Takes the address; it may take as long as Redis is away. */
  async begin(): Promise<void> {
    const reply = await this.ask(OPEN, this.places, [KEEP_MS]);
    if (reply === 'fenced') throw fencedOff(this.terms.address);
    const left = pairsIn(reply);
    this.last = left.at(-1)?.[0] ?? this.last;
    this.left = left.map(([place, count]) => ({ place, deliveries: Number(count) })).reverse();
  }

  /** Something may be new. */
  wake(): void {
    this.mayHaveMore = true;
    this.bell.notify();
  }

  async next(signal: AbortSignal): Promise<MailLetter | undefined> {
    while (!signal.aborted && !this.isClosed) {
      const next = this.found.shift();
      if (next !== undefined) {
        this.given.set(next.letter.id, next);
        return next.letter;
      }
      if (this.failure !== undefined) {
        const { failure } = this;
        this.failure = undefined;
        throw failure;
      }
      if (this.mayHaveMore && !this.isLooking) void this.look();
      await this.bell.wait(signal);
    }
    return undefined;
  }

  async acknowledge(id: string): Promise<void> {
    const given = this.given.get(id);
    if (given === undefined) return;
    await this.remove(given.place, id);
    this.given.delete(id);
  }

  async bury(id: string, reason: string): Promise<void> {
    const given = this.given.get(id);
    if (given === undefined) return;
    await this.inter(given.place, { ...given.letter, reason });
    this.given.delete(id);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.end();
    await unlessAway(this.terms.broker, this.ask(LEAVE, this.allPlaces, []));
  }

  private get places(): readonly string[] {
    const { keys, address } = this.terms;
    return [keys.mail(address), keys.mailReaders, keys.scopes];
  }

  private get allPlaces(): readonly string[] {
    const { keys, address } = this.terms;
    return [...this.places, keys.mailIds(address), keys.deadLetters(address), keys.addresses];
  }

  private end(): void {
    this.isClosed = true;
    this.bell.notify();
    this.terms.closed();
  }

  /** One at a time. Rings when it is over. */
  private async look(): Promise<void> {
    this.isLooking = true;
    try {
      const earlier = this.left.at(-1);
      if (earlier === undefined) await this.takeNew();
      else {
        await this.takeAgain(earlier.place, earlier.deliveries);
        this.left.pop();
      }
    } catch (error) {
      this.mayHaveMore = true;
      this.failure = refusedBy(this.terms.broker, error);
    }
    this.isLooking = false;
    this.bell.notify();
  }

  private async takeNew(): Promise<void> {
    this.mayHaveMore = false;
    const taken = await this.run(TAKE, this.places, [this.last, MOST_AT_ONCE, KEEP_MS]);
    for (const [place, text] of taken) {
      await this.receive(place, text);
      this.last = place;
    }
    if (taken.length === MOST_AT_ONCE) this.mayHaveMore = true;
  }

  private async takeAgain(place: string, deliveries: number): Promise<void> {
    const { address, mostDeliveries } = this.terms;
    const [entry] = await this.run(TAKE_AGAIN, this.places, [place, deliveries + 1]);
    if (entry === undefined) return;
    const [, text] = entry;
    const letter = readLetter(text, address);
    if (typeof letter === 'string' || deliveries < mostDeliveries) {
      return this.receive(place, text);
    }
    const reason = `It was given ${deliveries} times, and never acknowledged.`;
    await this.inter(place, { ...letter, reason });
  }

  private async receive(place: string, text: string): Promise<void> {
    const { address } = this.terms;
    const letter = readLetter(text, address);
    if (typeof letter === 'string') {
      const body = text.slice(0, LONGEST_FOREIGN);
      const stranger = { id: `foreign-${place}`, from: 'unknown', to: address, sentAt: 0, body };
      return this.inter(place, { ...stranger, reason: `${letter} It lay among the letters.` });
    }
    const known =
      this.given.get(letter.id) ?? this.found.find((other) => other.letter.id === letter.id);
    if (known === undefined) this.found.push({ place, letter });
    // Somebody has put it there once more, past all that is checked.
    else if (known.place !== place) await this.remove(place, letter.id);
  }

  private async remove(place: string, id: string): Promise<void> {
    const { keys, address } = this.terms;
    await this.run(ACKNOWLEDGE, [...this.places, keys.mailIds(address)], [place, id]);
  }

  private async inter(place: string, letter: DeadLetter): Promise<void> {
    const grave = [JSON.stringify(letter), MOST_DEAD_LETTERS, KEEP_MS];
    await this.run(BURY, this.allPlaces, [place, letter.id, ...grave]);
  }

  /** What the script says, in pairs; nothing from the moment that somebody else reads here, or may. */
  private async run(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<readonly (readonly [string, string])[]> {
    const reply = await this.ask(script, keys, args);
    if ((reply === 'replaced' || reply === 'fenced') && !this.isClosed) this.end();
    return pairsIn(reply);
  }

  private async ask(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<Reply> {
    const { broker, address, reader, fence } = this.terms;
    const claim = [address, reader, fence?.scope ?? '', fence?.claim ?? ''];
    try {
      return await broker.run(script, keys, [...claim, ...args]);
    } catch (error) {
      throw refusedBy(broker, error);
    }
  }
}

const pairsIn = (reply: Reply) => pairs.safeParse(reply).data ?? [];

const fencedOff = (address: string): StorageError =>
  new StorageError(`Another process has taken over ${address}; nothing more is read here.`);
