/**
 * The reader of one address of a mail folder. It looks when the folder changes, and now and then in
 * case nobody told it; neither keeps the process alive.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { Wakeup } from '../../../lib/wakeup.js';
import type { Clock } from '../../../protocol/clock.js';
import { UsageError } from '../../../protocol/errors.js';
import { type Inbox, LONGEST_LETTER, type MailLetter } from '../../../protocol/session/mailbox.js';
import { readLetter } from '../../shared/letter-rules.js';
import { openRegular } from '../io/regular-file.js';
import { leavePlace, makePlace, namesIn } from '../io/shared-folders.js';
import { storageError } from '../journal/line-file.js';
import { buryForeign, moveToDeadLetters } from './dead-letters.js';

/** A folder whose changes are not told (a network disk, no more watches to be had) is looked at so often. */
const LOOK_EVERY_MS = 1_000;
/** A sender that takes longer over a letter than this has died over it. */
const DRAFT_LASTS_MS = 600_000;

interface Given {
  readonly name: string;
  readonly letter: MailLetter;
}

export class FileInbox implements Inbox {
  private readonly root: string;
  private readonly address: string;
  private readonly clock: Clock;
  private readonly closed: () => void;
  private readonly bell = new Wakeup();
  /** By id: read and not acknowledged. */
  private readonly given = new Map<string, Given>();
  /** Names of files that are not to be looked at again: given, or not to be had. */
  private readonly seen = new Set<string>();
  /** Names that the last look found, the next one last. */
  private found: string[] = [];
  private watcher: fs.FSWatcher | undefined;
  private forgetLook: (() => void) | undefined;
  private isSwept = false;
  private isClosed = false;

  constructor(root: string, address: string, clock: Clock, closed: () => void) {
    this.root = root;
    this.address = address;
    this.clock = clock;
    this.closed = closed;
  }

  async next(signal: AbortSignal): Promise<MailLetter | undefined> {
    while (!signal.aborted && !this.isClosed) {
      // Before the look, so that what arrives after it is told.
      this.watch();
      const letter = this.take();
      if (letter !== undefined) return letter;
      this.lookLater();
      await this.bell.wait(signal);
      if (!this.bell.isAwaited) this.lookNoMore();
    }
    return undefined;
  }

  async acknowledge(id: string): Promise<void> {
    const given = this.given.get(id);
    if (given === undefined) return;
    this.remove(given.name);
    this.given.delete(id);
  }

  async bury(id: string, reason: string): Promise<void> {
    const given = this.given.get(id);
    if (given === undefined) return;
    try {
      moveToDeadLetters(this.root, this.address, given.name, { ...given.letter, reason });
    } catch (error) {
      throw asStorageError(error, this.folder);
    }
    this.remove(given.name);
    this.given.delete(id);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.watcher?.close();
    this.lookNoMore();
    this.bell.notify();
    leavePlace(this.root, this.address);
    this.closed();
  }

  private get folder(): string {
    return join(this.root, this.address);
  }

  /** One look serves until its letters are used up: later ones of a sender have later names. */
  private take(): MailLetter | undefined {
    if (this.found.length === 0) {
      const names = namesIn(join(this.folder, 'new'));
      this.found = names.filter((name) => !this.seen.has(name)).reverse();
    }
    for (let name = this.found.pop(); name !== undefined; name = this.found.pop()) {
      const letter = this.read(name);
      if (letter !== undefined) return letter;
    }
    return undefined;
  }

  /** Undefined when there is nothing to give: it is gone, no letter, or one that was given already. */
  private read(name: string): MailLetter | undefined {
    const letter = readLetterFile(join(this.folder, 'new', name), this.address);
    if (letter === undefined) return undefined;
    this.seen.add(name);
    if (typeof letter === 'string') {
      try {
        buryForeign(this.root, this.address, name, letter);
        this.seen.delete(name);
      } catch {
        // It stays where it is, and the next reader tries again.
      }
      return undefined;
    }
    if (this.given.has(letter.id)) {
      this.remove(name);
      return undefined;
    }
    this.given.set(letter.id, { name, letter });
    return letter;
  }

  private remove(name: string): void {
    try {
      fs.rmSync(join(this.folder, 'new', name), { force: true });
      this.seen.delete(name);
    } catch (error) {
      throw asStorageError(error, this.folder);
    }
  }

  private watch(): void {
    if (this.watcher !== undefined) return;
    try {
      makePlace(this.root, this.address, 'new');
      this.sweepDrafts();
    } catch (error) {
      throw asStorageError(error, this.folder);
    }
    try {
      const watcher = fs.watch(join(this.folder, 'new'), { persistent: false });
      watcher.on('change', () => this.bell.notify());
      watcher.on('error', () => watcher.close());
      this.watcher = watcher;
    } catch {
      // Then looking now and then has to do.
    }
  }

  private lookLater(): void {
    this.forgetLook ??= this.clock.wakeAt(
      this.clock.now() + LOOK_EVERY_MS,
      () => {
        this.forgetLook = undefined;
        this.bell.notify();
      },
      false,
    );
  }

  private lookNoMore(): void {
    this.forgetLook?.();
    this.forgetLook = undefined;
  }

  /** What senders left that were killed while they wrote. */
  private sweepDrafts(): void {
    if (this.isSwept) return;
    this.isSwept = true;
    for (const name of namesIn(this.folder)) {
      const path = join(this.folder, name);
      const written = fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (!name.endsWith('.draft') || written > this.clock.now() - DRAFT_LASTS_MS) continue;
      fs.rmSync(path, { force: true, recursive: true });
    }
  }
}

/** A sentence when it is no letter, undefined when it is gone. Links are not followed, pipes not waited for. */
const readLetterFile = (path: string, address: string): MailLetter | string | undefined => {
  let fd: number | undefined;
  try {
    fd = openRegular(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    const { size } = fs.fstatSync(fd);
    if (size > LONGEST_LETTER) return `It has ${size} bytes, and ${LONGEST_LETTER} are the most.`;
    return readLetter(fs.readFileSync(fd, 'utf8'), address);
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
