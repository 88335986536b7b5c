/**
 * Sends letters to Redis. Sendings to an address run in sequence, so that a repeated sending cannot
 * be overtaken. Letters that arrive meanwhile are sent together.
 */
import { randomBytes } from 'node:crypto';
import {
  type Fence,
  MAX_LETTER_LENGTH,
  MAX_UNREAD_LETTERS,
} from '../../../protocol/session/mailbox.js';
import { StorageError } from '../../../protocol/skein-error.js';
import { mailboxFull } from '../../shared/format-letter.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { refusalError } from '../connection/retry-while-refused.js';
import { KEEP_MS, type SwarmKeys } from '../connection/swarm-keys.js';
import { MAIL_SCRIPTS } from './mail-scripts.js';

/** Maximum number of letters in a sending. */
const MAX_BATCH = 64;
/**
 * Milliseconds for which the result of a sender's last sending is kept: the longest outage to
 * survive.
 */
const SENDER_MS = 24 * 60 * 60 * 1_000;

interface WrittenLetter {
  readonly id: string;
  readonly text: string;
  readonly fence: Fence | undefined;
}

interface Outgoing extends WrittenLetter {
  readonly onSent: () => void;
  readonly onRefused: (error: unknown) => void;
}

interface AddressQueue {
  readonly waiting: Outgoing[];
  /** Resolves when the queue is empty. */
  readonly emptied: Promise<void>;
}

export class RedisOutbox {
  private readonly redis: RedisConnections;
  private readonly keys: SwarmKeys;
  private readonly sender: string;
  /** Queues with waiting letters, by address. */
  private readonly queues = new Map<string, AddressQueue>();
  private sendings = 0;

  constructor(redis: RedisConnections, keys: SwarmKeys, process: string) {
    this.redis = redis;
    this.keys = keys;
    this.sender = `${process}:${randomBytes(6).toString('hex')}`;
  }

  send(address: string, content: WrittenLetter): Promise<void> {
    return new Promise((onSent, onRefused) => {
      const letter = { ...content, onSent, onRefused };
      const queue = this.queues.get(address);
      if (queue !== undefined) return void queue.waiting.push(letter);
      const waiting = [letter];
      this.queues.set(address, { waiting, emptied: this.empty(address, waiting) });
    });
  }

  /** Resolves when all letters are sent or refused. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all([...this.queues.values()].map(({ emptied }) => emptied));
  }

  private async empty(address: string, waiting: Outgoing[]): Promise<void> {
    while (waiting.length > 0) await this.deliver(address, waiting.splice(0, batchSize(waiting)));
    this.queues.delete(address);
  }

  private async deliver(address: string, letters: readonly Outgoing[]): Promise<void> {
    this.sendings += 1;
    const { keys, sender, sendings } = this;
    const mailKeys = [keys.mail(address), keys.mailIds(address), keys.mailSenders(address)];
    const common = [sender, sendings, MAX_UNREAD_LETTERS, KEEP_MS, SENDER_MS, keys.hints, address];
    const texts = letters.flatMap(({ id, text, fence }) => [
      id,
      text,
      fence?.scope ?? '',
      fence?.claim ?? '',
    ]);
    const scriptKeys = [...mailKeys, keys.addresses, keys.scopes];
    try {
      const result = String(
        await this.redis.run(MAIL_SCRIPTS.send, scriptKeys, [...common, ...texts]),
      );
      for (const [at, { fence, onSent, onRefused }] of letters.entries()) {
        if (result[at] === '-') onRefused(mailboxFull(address));
        else if (result[at] === 'x') onRefused(fencedOff(fence));
        else onSent();
      }
    } catch (error) {
      for (const { onRefused } of letters) onRefused(refusalError(this.redis, error));
    }
  }
}

const fencedOff = (fence: Fence | undefined): StorageError =>
  new StorageError(`Another process has taken over ${fence?.scope}; nothing more is sent here.`);

/** Returns the number of waiting letters that fit into a sending. */
const batchSize = (waiting: readonly Outgoing[]): number => {
  let length = 0;
  const end = waiting.findIndex(({ text }, at) => {
    length += text.length;
    return at > 0 && (at === MAX_BATCH || length > MAX_LETTER_LENGTH);
  });
  return end === -1 ? waiting.length : end;
};
