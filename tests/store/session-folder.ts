/** Session files in a folder of the test's own, and records to fill them with. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/protocol/clock.js';
import type { JournalBody } from '../../src/protocol/journal.js';
import type { SessionMeta } from '../../src/protocol/store.js';
import { SessionFiles } from '../../src/store/session-files.js';
import { virtualClock } from '../fakes/virtual-clock.js';

export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Owners are alive when the test says so; by default none but the one who asks is. */
export const sessionFiles = (
  root: string,
  { pid = 1, alive = [] as readonly string[], clock = virtualClock() as Clock } = {},
): SessionFiles =>
  new SessionFiles({
    root,
    clock,
    owner: { marker: `owner-${pid}`, pid },
    ownerLives: (marker) => alive.includes(marker),
  });

export const meta = (change: Partial<SessionMeta> = {}): SessionMeta => ({
  ...{ format: 1, id: 's_1', cwd: '/work', createdAt: 1, updatedAt: 1, lead: 'a_1' },
  ...{ model: 'm', version: '0.1.0', entrypoint: 'cli', parentId: null, title: 'Hello' },
  ...change,
});

export const created: JournalBody = {
  ...{ type: 'agent.created', agent: 'a_1', parent: null, cwd: '/work', model: 'm', prompt: 'p' },
};

export const letter = (id: string, text = 'Hello'): JournalBody => ({
  ...{ type: 'letter.received', letter: id, from: 'user' },
  raw: JSON.stringify([{ type: 'text', text }]),
});
