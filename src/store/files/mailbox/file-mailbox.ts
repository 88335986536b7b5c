/**
 * Letters as files that several processes of one machine share, in the manner of a maildir:
 *
 *   mail/<address>/new/   letters that wait, in the order of their names
 *   mail/<address>/dead/  letters that could not be delivered, with the reason
 *
 * A letter is written to a draft beside them, synced, and renamed into `new`: it is there whole or not
 * at all. Its name ends with a digest of its id, by which one that is sent again is known. Folders are
 * made when somebody writes or reads, and an empty one goes with its reader.
 */
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../protocol/clock.js';
import { UsageError } from '../../../protocol/errors.js';
import type { DeadLetter, Inbox, Mailbox, MailLetter } from '../../../protocol/session/mailbox.js';
import {
  checkAddress,
  isAddress,
  refuseIfFull,
  refuseSecond,
  writeLetter,
} from '../../shared/letter-rules.js';
import { makePlace, namesIn } from '../io/shared-folders.js';
import { syncFolder, writeSynced } from '../io/synced-file.js';
import { storageError } from '../journal/line-file.js';
import { readDeadLetters } from './dead-letters.js';
import { FileInbox } from './file-inbox.js';

export class FileMailbox implements Mailbox {
  private readonly session: string;
  private readonly root: string;
  private readonly clock: Clock;
  private readonly readers = new Map<string, FileInbox>();
  /** Of each address, the sending that is under way: a later letter must not overtake it. */
  private readonly sending = new Map<string, Promise<void>>();
  private readonly sender = `${process.pid}-${randomBytes(4).toString('hex')}`;
  private lastStamp = 0;
  private sent = 0;

  /** `session` is the session's folder. Nothing is touched before somebody writes or reads. */
  constructor(session: string, clock: Clock) {
    this.session = session;
    this.root = join(session, 'mail');
    this.clock = clock;
  }

  async send(letter: MailLetter): Promise<void> {
    const text = writeLetter(letter);
    const { id, to } = letter;
    const name = this.nextName();
    const before = this.sending.get(to) ?? Promise.resolve();
    const turn = before.then(() => this.deliver(to, name, endingOf(id), text));
    const settled = turn.catch(() => {});
    this.sending.set(to, settled);
    try {
      await turn;
    } finally {
      if (this.sending.get(to) === settled) this.sending.delete(to);
    }
  }

  async open(address: string): Promise<Inbox> {
    checkAddress(address);
    this.checkSession();
    if (this.readers.has(address)) refuseSecond(address);
    const closed = () => void this.readers.delete(address);
    const inbox = new FileInbox(this.root, address, this.clock, closed);
    this.readers.set(address, inbox);
    return inbox;
  }

  async deadLetters(): Promise<readonly DeadLetter[]> {
    const addresses = namesIn(this.root).filter(isAddress);
    return addresses.flatMap((address) => readDeadLetters(join(this.root, address)));
  }

  async close(): Promise<void> {
    await Promise.all(this.sending.values());
    for (const reader of [...this.readers.values()]) await reader.close();
  }

  /** Names of one sender sort in the order of its letters, whatever the clock does. */
  private nextName(): string {
    this.lastStamp = Math.max(this.lastStamp, this.clock.now());
    this.sent += 1;
    const two = [String(this.lastStamp).padStart(15, '0'), String(this.sent).padStart(9, '0')];
    return `${two.join('.')}.${this.sender}`;
  }

  private checkSession(): void {
    if (fs.existsSync(this.session)) return;
    throw new UsageError(`There is no session folder ${this.session} to keep letters in.`);
  }

  private async deliver(
    address: string,
    name: string,
    ending: string,
    text: string,
  ): Promise<void> {
    this.checkSession();
    const folder = join(this.root, address);
    const draft = join(folder, `${name}.draft`);
    // A reader that closes takes an empty folder along, perhaps just now: then it is made again.
    for (let attempt = 1; ; attempt += 1) {
      try {
        const grown = makePlace(this.root, address, 'new');
        const waiting = fs.readdirSync(join(folder, 'new'));
        if (waiting.some((other) => other.endsWith(ending))) return;
        refuseIfFull(address, waiting.length);
        await writeSynced(draft, text);
        fs.renameSync(draft, join(folder, 'new', `${name}${ending}`));
        for (const path of [join(folder, 'new'), ...grown]) await syncFolder(path);
        return;
      } catch (error) {
        dropDraft(draft);
        if (error instanceof UsageError) throw error;
        const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
        if (!isGone || attempt === ATTEMPTS) throw storageError(error, folder);
      }
    }
  }
}

const ATTEMPTS = 5;

/** What made the sending fail is told, not what is in the way of tidying up behind it. */
const dropDraft = (draft: string): void => {
  try {
    fs.rmSync(draft, { force: true });
  } catch {
    // A reader sweeps it away some day.
  }
};

const endingOf = (id: string): string =>
  `.${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`;
