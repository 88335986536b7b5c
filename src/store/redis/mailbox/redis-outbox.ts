/**
 * Letters on their way to Redis. Those to one address go one after another, so that none overtakes another
 * one when it has to be sent again; what comes meanwhile goes together.
 */
import { randomBytes } from 'node:crypto';
import { StorageError } from '../../../protocol/errors.js';
import {
  type Fence,
  LONGEST_LETTER,
  MOST_WAITING_LETTERS,
} from '../../../protocol/session/mailbox.js';
import { noRoom } from '../../shared/letter-rules.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { refusedBy } from '../connection/redis-errors.js';
import { KEEP_MS, type SwarmKeys } from '../connection/redis-keys.js';
import { SEND } from './mail-scripts.js';

/** So many go at once, and those behind a long one wait. */
const MOST_AT_ONCE = 64;
/** How long it is known what somebody sent last; no outage that somebody waits for takes longer. */
const SENDER_MS = 24 * 60 * 60 * 1_000;

interface Written {
  readonly id: string;
  readonly text: string;
  readonly fence: Fence | undefined;
}

interface Outgoing extends Written {
  readonly sent: () => void;
  readonly refused: (error: unknown) => void;
}

interface Line {
  readonly waiting: Outgoing[];
  /** When nobody waits in it any more. */
  readonly emptied: Promise<void>;
}

export class RedisOutbox {
  private readonly broker: RedisConnections;
  private readonly keys: SwarmKeys;
  private readonly sender: string;
  /** By address; there while somebody waits. */
  private readonly lines = new Map<string, Line>();
  private sendings = 0;

  constructor(broker: RedisConnections, keys: SwarmKeys, process: string) {
    this.broker = broker;
    this.keys = keys;
    this.sender = `${process}:${randomBytes(6).toString('hex')}`;
  }

  send(address: string, written: Written): Promise<void> {
    return new Promise((sent, refused) => {
      const letter = { ...written, sent, refused };
      const line = this.lines.get(address);
      if (line !== undefined) return void line.waiting.push(letter);
      const waiting = [letter];
      this.lines.set(address, { waiting, emptied: this.empty(address, waiting) });
    });
  }

  /** When everything is sent, or refused. */
  async settled(): Promise<void> {
    await Promise.all([...this.lines.values()].map(({ emptied }) => emptied));
  }

  private async empty(address: string, waiting: Outgoing[]): Promise<void> {
    while (waiting.length > 0) await this.deliver(address, waiting.splice(0, together(waiting)));
    this.lines.delete(address);
  }

  private async deliver(address: string, letters: readonly Outgoing[]): Promise<void> {
    this.sendings += 1;
    const { keys, sender, sendings } = this;
    const places = [keys.mail(address), keys.mailIds(address), keys.mailSenders(address)];
    const terms = [sender, sendings, MOST_WAITING_LETTERS, KEEP_MS, SENDER_MS, keys.hints, address];
    const texts = letters.flatMap(({ id, text, fence }) => [
      id,
      text,
      fence?.scope ?? '',
      fence?.claim ?? '',
    ]);
    const all = [...places, keys.addresses, keys.scopes];
    try {
      const said = String(await this.broker.run(SEND, all, [...terms, ...texts]));
      for (const [at, { fence, sent, refused }] of letters.entries()) {
        if (said[at] === '-') refused(noRoom(address));
        else if (said[at] === 'x') refused(fencedOff(fence));
        else sent();
      }
    } catch (error) {
      for (const { refused } of letters) refused(refusedBy(this.broker, error));
    }
  }
}

const fencedOff = (fence: Fence | undefined): StorageError =>
  new StorageError(`Another process has taken over ${fence?.scope}; nothing more is sent here.`);

/** How many of those who wait go at once. */
const together = (waiting: readonly Outgoing[]): number => {
  let length = 0;
  const end = waiting.findIndex(({ text }, at) => {
    length += text.length;
    return at > 0 && (at === MOST_AT_ONCE || length > LONGEST_LETTER);
  });
  return end === -1 ? waiting.length : end;
};
