/**
 * Mailbox in Redis, for processes on any machine. Each address is a stream of the letters that are
 * not acknowledged. Hints wake readers, so a reader needs no blocking connection.
 */

import { randomBytes } from 'node:crypto';
import { parseJson } from '../../../lib/json/parse-json.js';
import type {
  DeadLetter,
  Fence,
  Inbox,
  Mailbox,
  MailLetter,
} from '../../../protocol/session/mailbox.js';
import { deadLetter } from '../../files/mailbox/dead-letter.js';
import {
  checkAddress,
  formatLetter,
  isAddress,
  refuseSecondReader,
} from '../../shared/format-letter.js';
import { ChangeHints } from '../connection/change-hints.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { waitUnlessAway } from '../connection/redis-outage.js';
import { refusalError } from '../connection/retry-while-refused.js';
import { type SwarmKeys, swarmKeys } from '../connection/swarm-keys.js';
import { RedisInbox } from './redis-inbox.js';
import { RedisOutbox } from './redis-outbox.js';

interface RedisMailboxOptions {
  /** Maximum number of deliveries of a letter that is never acknowledged. Default: 5. */
  readonly maxDeliveries?: number;
}

const MAX_DELIVERIES = 5;
const MAIL = 'mail:';

export class RedisMailbox implements Mailbox {
  private readonly redis: RedisConnections;
  private readonly keys: SwarmKeys;
  private readonly consumer: string;
  private readonly maxDeliveries: number;
  private readonly outbox: RedisOutbox;
  private readonly hints: ChangeHints;
  private readonly readers = new Map<string, RedisInbox>();
  private stopListening: (() => void) | undefined;

  /** `consumer` names this process. Uses no key before the first send or read. */
  constructor(
    redis: RedisConnections,
    swarm: string,
    consumer: string,
    { maxDeliveries = MAX_DELIVERIES }: RedisMailboxOptions = {},
  ) {
    this.redis = redis;
    this.keys = swarmKeys(swarm);
    this.consumer = consumer;
    this.maxDeliveries = maxDeliveries;
    this.outbox = new RedisOutbox(redis, this.keys, consumer);
    this.hints = new ChangeHints(redis, this.keys.hints);
  }

  async send(letter: MailLetter, fence?: Fence): Promise<void> {
    return this.outbox.send(letter.to, { id: letter.id, text: formatLetter(letter), fence });
  }

  async open(address: string, fence?: Fence): Promise<Inbox> {
    checkAddress(address);
    if (this.readers.has(address)) refuseSecondReader(address);
    const { redis, keys, maxDeliveries } = this;
    const reader = `${this.consumer}:${randomBytes(6).toString('hex')}`;
    const onClose = () => this.leave(address);
    const options = { redis, keys, address, reader, maxDeliveries, fence, onClose };
    const inbox = new RedisInbox(options);
    this.readers.set(address, inbox);
    this.stopListening ??= this.listen();
    try {
      await inbox.start();
      return inbox;
    } catch (error) {
      this.leave(address);
      throw error;
    }
  }

  async deadLetters(): Promise<readonly DeadLetter[]> {
    try {
      const addresses = strings(await this.redis.call('SMEMBERS', this.keys.addresses));
      const lists = addresses
        .filter(isAddress)
        .sort()
        .map((address) => this.redis.call('LRANGE', this.keys.deadLetters(address), 0, -1));
      return strings((await Promise.all(lists)).flat()).flatMap(
        (text) => parseDeadLetter(text) ?? [],
      );
    } catch (error) {
      throw refusalError(this.redis, error);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.readers.values()].map((reader) => reader.close()));
    await waitUnlessAway(this.redis, this.outbox.settled());
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
    this.stopListening?.();
    this.stopListening = undefined;
  }
}

const strings = (reply: unknown): string[] =>
  Array.isArray(reply) ? reply.filter((item) => typeof item === 'string') : [];

const parseDeadLetter = (text: string): DeadLetter | undefined =>
  deadLetter.safeParse(parseJson(text)).data;
