/** Session files in a private folder of a test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/protocol/clock.js';
import { FileSessionStore } from '../../src/store/files/file-session-store.js';
import { virtualClock } from '../fakes/virtual-clock.js';

export { created, letter, meta } from './contracts/records.js';

export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** `alive` lists the markers of live owners. Default: none. */
export const sessionFiles = (
  root: string,
  { pid = 1, alive = [] as readonly string[], clock = virtualClock() as Clock } = {},
): FileSessionStore =>
  new FileSessionStore({
    root,
    clock,
    owner: { marker: `owner-${pid}`, pid },
    isOwnerAlive: (marker) => alive.includes(marker),
  });
