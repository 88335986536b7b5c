/** Mailbox in memory, for sessions that end with the process and for tests. */

import { Wakeup } from '../../lib/async/wakeup.js';
import {
  type DeadLetter,
  type Inbox,
  MAX_DEAD_LETTERS,
  type Mailbox,
  type MailLetter,
} from '../../protocol/session/mailbox.js';
import { UsageError } from '../../protocol/skein-error.js';
import {
  checkAddress,
  formatLetter,
  parseLetter,
  refuseIfFull,
  refuseSecondReader,
} from '../shared/format-letter.js';

/** Letters of an address. */
interface AddressMailbox {
  /** Letters that are not acknowledged, by id, in order of arrival. */
  readonly unacknowledged: Map<string, MailLetter>;
  /** Letters that the current reader has not received. */
  undelivered: MailLetter[];
  readonly dead: DeadLetter[];
  readonly wakeup: Wakeup;
  reader: MemoryInbox | undefined;
}

export class MemoryMailbox implements Mailbox {
  private readonly addresses = new Map<string, AddressMailbox>();

  async send(letter: MailLetter): Promise<void> {
    // Through JSON, so that readers get the same values as from other mailboxes.
    const copy = parseLetter(formatLetter(letter), letter.to);
    if (typeof copy === 'string') throw new UsageError(`The letter cannot be sent. ${copy}`);
    const { unacknowledged, undelivered, wakeup } = this.mailboxAt(letter.to);
    if (unacknowledged.has(copy.id)) return;
    refuseIfFull(copy.to, unacknowledged.size);
    unacknowledged.set(copy.id, copy);
    undelivered.push(copy);
    wakeup.notify();
  }

  async open(address: string): Promise<Inbox> {
    const mailbox = this.mailboxAt(checkAddress(address));
    if (mailbox.reader !== undefined) refuseSecondReader(address);
    mailbox.reader = new MemoryInbox(mailbox);
    return mailbox.reader;
  }

  async deadLetters(): Promise<readonly DeadLetter[]> {
    return [...this.addresses.values()].flatMap(({ dead }) => dead);
  }

  async close(): Promise<void> {
    for (const { reader } of this.addresses.values()) await reader?.close();
  }

  private mailboxAt(address: string): AddressMailbox {
    const existing = this.addresses.get(address);
    if (existing !== undefined) return existing;
    const mailbox: AddressMailbox = {
      unacknowledged: new Map(),
      undelivered: [],
      dead: [],
      wakeup: new Wakeup(),
      reader: undefined,
    };
    this.addresses.set(address, mailbox);
    return mailbox;
  }
}

class MemoryInbox implements Inbox {
  private readonly mailbox: AddressMailbox;
  private isClosed = false;

  constructor(mailbox: AddressMailbox) {
    this.mailbox = mailbox;
  }

  async next(signal: AbortSignal): Promise<MailLetter | undefined> {
    while (!signal.aborted && !this.isClosed) {
      const letter = this.mailbox.undelivered.shift();
      if (letter !== undefined) return letter;
      await this.mailbox.wakeup.wait(signal);
    }
    return undefined;
  }

  async acknowledge(id: string): Promise<void> {
    this.mailbox.unacknowledged.delete(id);
  }

  async moveToDeadLetters(id: string, reason: string): Promise<void> {
    const { unacknowledged, dead } = this.mailbox;
    const letter = unacknowledged.get(id);
    if (letter === undefined) return;
    unacknowledged.delete(id);
    dead.push({ ...letter, reason });
    if (dead.length > MAX_DEAD_LETTERS) dead.shift();
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.mailbox.undelivered = [...this.mailbox.unacknowledged.values()];
    this.mailbox.reader = undefined;
    this.mailbox.wakeup.notify();
  }
}
