/**
 * Mailbox as files that the processes of a machine share, like a maildir:
 *
 *   mail/<address>/new/   waiting letters, in the order of their names
 *   mail/<address>/dead/  letters that could not be delivered, with the reason
 *
 * A letter is written to a temporary file, synced, and renamed into `new`, so it is complete or
 * missing. Its name ends with a digest of its id, to recognise a letter that is sent twice. The
 * first send or read creates the folders, and a closing reader removes empty folders.
 */
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../protocol/clock.js';
import type { DeadLetter, Inbox, Mailbox, MailLetter } from '../../../protocol/session/mailbox.js';
import { UsageError } from '../../../protocol/skein-error.js';
import {
  checkAddress,
  formatLetter,
  isAddress,
  refuseIfFull,
  refuseSecondReader,
} from '../../shared/format-letter.js';
import { storageError } from '../../shared/storage-error.js';
import { listNames } from '../io/list-names.js';
import { syncFolder, writeSyncedFile } from '../io/write-synced-file.js';
import { readDeadLetters } from './dead-letter.js';
import { FileInbox } from './file-inbox.js';
import { makeAddressFolder } from './make-address-folder.js';

export class FileMailbox implements Mailbox {
  private readonly session: string;
  private readonly root: string;
  private readonly clock: Clock;
  private readonly readers = new Map<string, FileInbox>();
  /** Running send by address. A later letter waits, so that it cannot overtake. */
  private readonly sending = new Map<string, Promise<void>>();
  private readonly sender = `${process.pid}-${randomBytes(4).toString('hex')}`;
  private lastStamp = 0;
  private sent = 0;

  /** `session` is the folder of the session. Creates no file before the first send or read. */
  constructor(session: string, clock: Clock) {
    this.session = session;
    this.root = join(session, 'mail');
    this.clock = clock;
  }

  async send(letter: MailLetter): Promise<void> {
    const text = formatLetter(letter);
    const { id, to } = letter;
    const name = this.nextName();
    const previous = this.sending.get(to) ?? Promise.resolve();
    const send = previous.then(() => this.deliver(to, name, suffixOf(id), text));
    const settled = send.catch(() => {});
    this.sending.set(to, settled);
    try {
      await send;
    } finally {
      if (this.sending.get(to) === settled) this.sending.delete(to);
    }
  }

  async open(address: string): Promise<Inbox> {
    checkAddress(address);
    this.checkSession();
    if (this.readers.has(address)) refuseSecondReader(address);
    const onClose = () => void this.readers.delete(address);
    const inbox = new FileInbox(this.root, address, this.clock, onClose);
    this.readers.set(address, inbox);
    return inbox;
  }

  async deadLetters(): Promise<readonly DeadLetter[]> {
    const addresses = listNames(this.root).filter(isAddress);
    return addresses.flatMap((address) => readDeadLetters(join(this.root, address)));
  }

  async close(): Promise<void> {
    await Promise.all(this.sending.values());
    for (const reader of [...this.readers.values()]) await reader.close();
  }

  /**
   * Returns a name that sorts after all earlier names of this sender, even if the clock goes back.
   */
  private nextName(): string {
    this.lastStamp = Math.max(this.lastStamp, this.clock.now());
    this.sent += 1;
    const parts = [String(this.lastStamp).padStart(15, '0'), String(this.sent).padStart(9, '0')];
    return `${parts.join('.')}.${this.sender}`;
  }

  private checkSession(): void {
    if (fs.existsSync(this.session)) return;
    throw new UsageError(`There is no session folder ${this.session} for a mailbox.`);
  }

  private async deliver(
    address: string,
    name: string,
    suffix: string,
    text: string,
  ): Promise<void> {
    this.checkSession();
    const folder = join(this.root, address);
    const draft = join(folder, `${name}.draft`);
    // A closing reader may remove the empty folder in between. Then it is created again.
    for (let attempt = 1; ; attempt += 1) {
      try {
        const changed = makeAddressFolder(this.root, address, 'new');
        const waiting = fs.readdirSync(join(folder, 'new'));
        if (waiting.some((file) => file.endsWith(suffix))) return;
        refuseIfFull(address, waiting.length);
        await writeSyncedFile(draft, text);
        fs.renameSync(draft, join(folder, 'new', `${name}${suffix}`));
        for (const path of [join(folder, 'new'), ...changed]) await syncFolder(path);
        return;
      } catch (error) {
        dropDraft(draft);
        if (error instanceof UsageError) throw error;
        const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
        if (!isGone || attempt === MAX_ATTEMPTS) throw storageError(error, folder);
      }
    }
  }
}

const MAX_ATTEMPTS = 5;

/** Never throws, because the caller reports the error of the send. */
const dropDraft = (draft: string): void => {
  try {
    fs.rmSync(draft, { force: true });
  } catch {
    // A later reader removes the temporary file.
  }
};

const suffixOf = (id: string): string =>
  `.${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`;
