/**
 * Reads the letters of an address. Checks the folder when it changes, and every second in case a
 * change was not reported. Neither keeps the process alive.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { Wakeup } from '../../../lib/async/wakeup.js';
import type { Clock } from '../../../protocol/clock.js';
import {
  type Inbox,
  MAX_LETTER_LENGTH,
  type MailLetter,
} from '../../../protocol/session/mailbox.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { parseLetter } from '../../shared/format-letter.js';
import { storageError } from '../../shared/storage-error.js';
import { listNames } from '../io/list-names.js';
import { openRegularFile } from '../io/open-regular-file.js';
import { moveForeignFile, moveToDeadLetters } from './dead-letter.js';
import { makeAddressFolder, removeAddressFolder } from './make-address-folder.js';

/**
 * Interval of checks, because changes are not reported on network disks or without free watches.
 */
const CHECK_EVERY_MS = 1_000;
/** Milliseconds after which an unfinished letter counts as abandoned. */
const ABANDONED_MS = 600_000;

interface DeliveredLetter {
  readonly name: string;
  readonly letter: MailLetter;
}

export class FileInbox implements Inbox {
  private readonly root: string;
  private readonly address: string;
  private readonly clock: Clock;
  private readonly onClose: () => void;
  private readonly wakeup = new Wakeup();
  /** Letters by id that were read and not acknowledged. */
  private readonly delivered = new Map<string, DeliveredLetter>();
  /** Names of files to skip: delivered letters and unreadable files. */
  private readonly skippedNames = new Set<string>();
  /** File names of the last listing, the next name last. */
  private pendingNames: string[] = [];
  private watcher: fs.FSWatcher | undefined;
  private cancelTimer: (() => void) | undefined;
  private isSwept = false;
  private isClosed = false;

  constructor(root: string, address: string, clock: Clock, onClose: () => void) {
    this.root = root;
    this.address = address;
    this.clock = clock;
    this.onClose = onClose;
  }

  async next(signal: AbortSignal): Promise<MailLetter | undefined> {
    while (!signal.aborted && !this.isClosed) {
      // Watch before the listing, so that no later letter is missed.
      this.watch();
      const letter = this.take();
      if (letter !== undefined) return letter;
      this.scheduleCheck();
      await this.wakeup.wait(signal);
      if (!this.wakeup.isAwaited) this.cancelCheck();
    }
    return undefined;
  }

  async acknowledge(id: string): Promise<void> {
    const delivered = this.delivered.get(id);
    if (delivered === undefined) return;
    this.remove(delivered.name);
    this.delivered.delete(id);
  }

  async moveToDeadLetters(id: string, reason: string): Promise<void> {
    const delivered = this.delivered.get(id);
    if (delivered === undefined) return;
    try {
      moveToDeadLetters(this.root, this.address, delivered.name, { ...delivered.letter, reason });
    } catch (error) {
      throw asStorageError(error, this.folder);
    }
    this.remove(delivered.name);
    this.delivered.delete(id);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.watcher?.close();
    this.cancelCheck();
    this.wakeup.notify();
    removeAddressFolder(this.root, this.address);
    this.onClose();
  }

  private get folder(): string {
    return join(this.root, this.address);
  }

  /**
   * Lists the folder only when the last listing is used up. Later letters of a sender have later
   * names.
   */
  private take(): MailLetter | undefined {
    if (this.pendingNames.length === 0) {
      const names = listNames(join(this.folder, 'new'));
      this.pendingNames = names.filter((name) => !this.skippedNames.has(name)).reverse();
    }
    for (let name = this.pendingNames.pop(); name !== undefined; name = this.pendingNames.pop()) {
      const letter = this.read(name);
      if (letter !== undefined) return letter;
    }
    return undefined;
  }

  /**
   * Returns undefined if the file is gone, is not a letter, or holds a letter that was delivered
   * already.
   */
  private read(name: string): MailLetter | undefined {
    const letter = readLetterFile(join(this.folder, 'new', name), this.address);
    if (letter === undefined) return undefined;
    this.skippedNames.add(name);
    if (typeof letter === 'string') {
      try {
        moveForeignFile(this.root, this.address, name, letter);
        this.skippedNames.delete(name);
      } catch {
        // The file stays, and the next reader tries again.
      }
      return undefined;
    }
    if (this.delivered.has(letter.id)) {
      this.remove(name);
      return undefined;
    }
    this.delivered.set(letter.id, { name, letter });
    return letter;
  }

  private remove(name: string): void {
    try {
      fs.rmSync(join(this.folder, 'new', name), { force: true });
      this.skippedNames.delete(name);
    } catch (error) {
      throw asStorageError(error, this.folder);
    }
  }

  private watch(): void {
    if (this.watcher !== undefined) return;
    try {
      makeAddressFolder(this.root, this.address, 'new');
      this.sweepDrafts();
    } catch (error) {
      throw asStorageError(error, this.folder);
    }
    try {
      const watcher = fs.watch(join(this.folder, 'new'), { persistent: false });
      watcher.on('change', () => this.wakeup.notify());
      watcher.on('error', () => watcher.close());
      this.watcher = watcher;
    } catch {
      // The periodic checks find new letters.
    }
  }

  private scheduleCheck(): void {
    this.cancelTimer ??= this.clock.wakeAt(
      this.clock.now() + CHECK_EVERY_MS,
      () => {
        this.cancelTimer = undefined;
        this.wakeup.notify();
      },
      false,
    );
  }

  private cancelCheck(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
  }

  /** Removes unfinished letters of senders that died. */
  private sweepDrafts(): void {
    if (this.isSwept) return;
    this.isSwept = true;
    for (const name of listNames(this.folder)) {
      const path = join(this.folder, name);
      const written = fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (!name.endsWith('.draft') || written > this.clock.now() - ABANDONED_MS) continue;
      fs.rmSync(path, { force: true, recursive: true });
    }
  }
}

/**
 * Returns a sentence if the file is not a letter, and undefined if the file is gone. Does not
 * follow links, and does not block on pipes.
 */
const readLetterFile = (path: string, address: string): MailLetter | string | undefined => {
  let fd: number | undefined;
  try {
    fd = openRegularFile(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    const { size } = fs.fstatSync(fd);
    if (size > MAX_LETTER_LENGTH) return `It has ${size} bytes; the limit is ${MAX_LETTER_LENGTH}.`;
    return parseLetter(fs.readFileSync(fd, 'utf8'), address);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    return `It cannot be read (${code === 'ELOOP' ? 'it is a link' : code}).`;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

const asStorageError = (error: unknown, path: string): Error =>
  error instanceof UsageError ? error : storageError(error, path);
