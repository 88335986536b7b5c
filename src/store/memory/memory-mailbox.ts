/** Letters inside one process: for sessions that do not outlive it, and for tests. */

import { Wakeup } from '../../lib/wakeup.js';
import { UsageError } from '../../protocol/errors.js';
import {
  type DeadLetter,
  type Inbox,
  type Mailbox,
  type MailLetter,
  MOST_DEAD_LETTERS,
} from '../../protocol/session/mailbox.js';
import {
  checkAddress,
  readLetter,
  refuseIfFull,
  refuseSecond,
  writeLetter,
} from '../shared/letter-rules.js';

/** What waits at one address. */
interface Pigeonhole {
  /** By id, in the order of arrival: those that are not acknowledged. */
  readonly kept: Map<string, MailLetter>;
  /** Those of them that the present reader has not been given. */
  fresh: MailLetter[];
  readonly dead: DeadLetter[];
  readonly bell: Wakeup;
  reader: MemoryInbox | undefined;
}

export class MemoryMailbox implements Mailbox {
  private readonly holes = new Map<string, Pigeonhole>();

  async send(letter: MailLetter): Promise<void> {
    // Through JSON, so that a reader gets what it would get from any other mailbox.
    const copy = readLetter(writeLetter(letter), letter.to);
    if (typeof copy === 'string') throw new UsageError(`The letter cannot be sent. ${copy}`);
    const { kept, fresh, bell } = this.hole(letter.to);
    if (kept.has(copy.id)) return;
    refuseIfFull(copy.to, kept.size);
    kept.set(copy.id, copy);
    fresh.push(copy);
    bell.notify();
  }

  async open(address: string): Promise<Inbox> {
    const hole = this.hole(checkAddress(address));
    if (hole.reader !== undefined) refuseSecond(address);
    hole.reader = new MemoryInbox(hole);
    return hole.reader;
  }

  async deadLetters(): Promise<readonly DeadLetter[]> {
    return [...this.holes.values()].flatMap(({ dead }) => dead);
  }

  async close(): Promise<void> {
    for (const { reader } of this.holes.values()) await reader?.close();
  }

  private hole(address: string): Pigeonhole {
    const known = this.holes.get(address);
    if (known !== undefined) return known;
    const hole: Pigeonhole = {
      kept: new Map(),
      fresh: [],
      dead: [],
      bell: new Wakeup(),
      reader: undefined,
    };
    this.holes.set(address, hole);
    return hole;
  }
}

class MemoryInbox implements Inbox {
  private readonly hole: Pigeonhole;
  private isClosed = false;

  constructor(hole: Pigeonhole) {
    this.hole = hole;
  }

  async next(signal: AbortSignal): Promise<MailLetter | undefined> {
    while (!signal.aborted && !this.isClosed) {
      const letter = this.hole.fresh.shift();
      if (letter !== undefined) return letter;
      await this.hole.bell.wait(signal);
    }
    return undefined;
  }

  async acknowledge(id: string): Promise<void> {
    this.hole.kept.delete(id);
  }

  async bury(id: string, reason: string): Promise<void> {
    const { kept, dead } = this.hole;
    const letter = kept.get(id);
    if (letter === undefined) return;
    kept.delete(id);
    dead.push({ ...letter, reason });
    if (dead.length > MOST_DEAD_LETTERS) dead.shift();
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.hole.fresh = [...this.hole.kept.values()];
    this.hole.reader = undefined;
    this.hole.bell.notify();
  }
}
