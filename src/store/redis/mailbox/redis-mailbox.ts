/**
 * Letters in Redis, for processes on any machine. Each address is a stream, with the letters that are not
 * acknowledged; readers are told by hints, and hold no connection of their own.
 */
import { randomBytes } from 'node:crypto';
import type {
  DeadLetter,
  Fence,
  Inbox,
  Mailbox,
  MailLetter,
} from '../../../protocol/session/mailbox.js';
import { deadLetter } from '../../files/mailbox/dead-letters.js';
import { checkAddress, isAddress, refuseSecond, writeLetter } from '../../shared/letter-rules.js';
import { RedisHints, unlessAway } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { refusedBy } from '../connection/redis-errors.js';
import { type SwarmKeys, swarmKeys } from '../connection/redis-keys.js';
import { RedisInbox } from './redis-inbox.js';
import { RedisOutbox } from './redis-outbox.js';

export interface RedisMailboxOptions {
  /** A letter that was given so often, and never acknowledged, is given no more. */
  readonly mostDeliveries?: number;
}

const MOST_DELIVERIES = 5;
const MAIL = 'mail:';

export class RedisMailbox implements Mailbox {
  private readonly broker: RedisConnections;
  private readonly keys: SwarmKeys;
  private readonly consumer: string;
  private readonly mostDeliveries: number;
  private readonly outbox: RedisOutbox;
  private readonly hints: RedisHints;
  private readonly readers = new Map<string, RedisInbox>();
  private listensNoMore: (() => void) | undefined;

  /** `consumer` marks this process. Nothing is touched before somebody writes or reads. */
  constructor(
    broker: RedisConnections,
    swarm: string,
    consumer: string,
    { mostDeliveries = MOST_DELIVERIES }: RedisMailboxOptions = {},
  ) {
    this.broker = broker;
    this.keys = swarmKeys(swarm);
    this.consumer = consumer;
    this.mostDeliveries = mostDeliveries;
    this.outbox = new RedisOutbox(broker, this.keys, consumer);
    this.hints = new RedisHints(broker, this.keys.hints);
  }

  async send(letter: MailLetter, fence?: Fence): Promise<void> {
    return this.outbox.send(letter.to, { id: letter.id, text: writeLetter(letter), fence });
  }

  async open(address: string, fence?: Fence): Promise<Inbox> {
    checkAddress(address);
    if (this.readers.has(address)) refuseSecond(address);
    const { broker, keys, mostDeliveries } = this;
    const reader = `${this.consumer}:${randomBytes(6).toString('hex')}`;
    const closed = () => this.leave(address);
    const terms = { broker, keys, address, reader, mostDeliveries, fence, closed };
    const inbox = new RedisInbox(terms);
    this.readers.set(address, inbox);
    this.listensNoMore ??= this.listen();
    try {
      await inbox.begin();
      return inbox;
    } catch (error) {
      this.leave(address);
      throw error;
    }
  }

  async deadLetters(): Promise<readonly DeadLetter[]> {
    try {
      const addresses = strings(await this.broker.call('SMEMBERS', this.keys.addresses));
      const graves = addresses
        .filter(isAddress)
        .sort()
        .map((address) => this.broker.call('LRANGE', this.keys.deadLetters(address), 0, -1));
      return strings((await Promise.all(graves)).flat()).flatMap((text) => readGrave(text) ?? []);
    } catch (error) {
      throw refusedBy(this.broker, error);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.readers.values()].map((reader) => reader.close()));
    await unlessAway(this.broker, this.outbox.settled());
  }

  private listen(): () => void {
    return this.hints.listen(
      (hint) => {
        if (hint.startsWith(MAIL)) this.readers.get(hint.slice(MAIL.length))?.wake();
      },
      () => {
        for (const reader of this.readers.values()) reader.wake();
      },
    );
  }

  private leave(address: string): void {
    this.readers.delete(address);
    if (this.readers.size > 0) return;
    this.listensNoMore?.();
    this.listensNoMore = undefined;
  }
}

const strings = (reply: unknown): string[] =>
  Array.isArray(reply) ? reply.filter((it) => typeof it === 'string') : [];

const readGrave = (text: string): DeadLetter | undefined => {
  try {
    return deadLetter.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
