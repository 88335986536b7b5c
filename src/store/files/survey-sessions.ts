/** Reads the metadata of sessions without a lease. */
import fs from 'node:fs';
import { join } from 'node:path';
import type { SessionMeta, SessionSurvey } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import { isSessionId } from '../shared/check-session-id.js';
import { parseSessionMeta } from '../shared/parse-session-meta.js';
import { readRegularFile } from './io/open-regular-file.js';

/** Lists readable and unreadable sessions. Throws UsageError if the folder cannot be listed. */
export const surveySessions = (root: string): SessionSurvey => {
  const sessions: SessionMeta[] = [];
  const unreadable: { id: string; reason: string }[] = [];
  for (const id of sessionFolders(root)) {
    if (!isSessionId(id)) continue;
    try {
      const meta = readSessionMeta(join(root, id), id);
      // Callers open a listed session by this id.
      if (meta.id !== id) throw new UsageError('Its session.json belongs to another session.');
      sessions.push(meta);
    } catch (error) {
      unreadable.push({ id, reason: (error as Error).message });
    }
  }
  return { sessions, unreadable };
};

const sessionFolders = (root: string): readonly string[] => {
  try {
    return fs.readdirSync(root);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new UsageError(
      `Cannot list the sessions in ${root} (${code}); make it a directory that you may read, or set SKEIN_HOME to another folder.`,
      { cause: error },
    );
  }
};

/** Throws UsageError if there is no such session, or if it cannot be read. */
export const readSessionMeta = (folder: string, id: string): SessionMeta => {
  const path = join(folder, 'session.json');
  let text: string;
  try {
    text = readRegularFile(path).toString();
  } catch (error) {
    throw new UsageError(`There is no session "${id}"; \`skein sessions --all\` lists them.`, {
      cause: error,
    });
  }
  return parseSessionMeta(text, path);
};
