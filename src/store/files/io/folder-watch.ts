/**
 * Watches the entries of a folder. Checks when the folder changes, and every second in case a change
 * was not reported. Neither keeps the process alive.
 */
import fs from 'node:fs';
import type { Clock } from '../../../protocol/clock.js';
import { storageError } from '../../shared/storage-error.js';
import { listNames } from './list-names.js';

/**
 * Interval of checks, because changes are not reported on network disks or without free watches.
 */
const CHECK_EVERY_MS = 1_000;
/** Not the name of an entry. */
const ANY_ENTRY = '';

export class FolderWatch {
  private readonly folder: string;
  private readonly clock: Clock;
  /** Listeners by the name of the entry; ANY_ENTRY for all entries. */
  private readonly listeners = new Map<string, Set<() => void>>();
  private stop: (() => void) | undefined;

  constructor(folder: string, clock: Clock) {
    this.folder = folder;
    this.clock = clock;
  }

  /**
   * Calls `onChange` after the entry may have changed; without a name, after any entry may have changed.
   * Creates the folder. Returns the function that ends the watch. Throws StorageError if the folder
   * cannot be created.
   */
  listen(onChange: () => void, name = ANY_ENTRY): () => void {
    this.stop ??= this.start();
    const listeners = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, listeners.add(onChange));
    return () => {
      listeners.delete(onChange);
      if (listeners.size === 0) this.listeners.delete(name);
      if (this.listeners.size > 0) return;
      this.stop?.();
      this.stop = undefined;
    };
  }

  private start(): () => void {
    try {
      fs.mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw storageError(error, this.folder);
    }
    const watcher = this.openWatcher();
    let cancelCheck = () => {};
    const scheduleCheck = () => {
      cancelCheck = this.clock.wakeAt(this.clock.now() + CHECK_EVERY_MS, check, false);
    };
    const check = () => {
      scheduleCheck();
      for (const name of listNames(this.folder)) this.notifyListeners(name);
      this.notifyListeners(ANY_ENTRY);
    };
    scheduleCheck();
    return () => {
      watcher?.close();
      cancelCheck();
    };
  }

  /** Returns undefined if changes of the folder are not reported. */
  private openWatcher(): fs.FSWatcher | undefined {
    try {
      const watcher = fs.watch(this.folder, { persistent: false });
      watcher.on('change', (_, name) => {
        this.notifyListeners(String(name));
        this.notifyListeners(ANY_ENTRY);
      });
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      return undefined;
    }
  }

  private notifyListeners(name: string): void {
    for (const onChange of [...(this.listeners.get(name) ?? [])]) onChange();
  }
}
