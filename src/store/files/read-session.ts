/** A session's folder as those see it who do not own it: nothing here writes, and nothing is held. */
import fs from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../protocol/errors.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { EventWatch, SessionMeta, SessionSurvey } from '../../protocol/session/store.js';
import { isSessionId, parseMeta } from '../shared/session-meta.js';
import { readRegular } from './io/regular-file.js';
import { eventLine, parseEvent } from './journal/event-index.js';
import { LineTail, linesOf } from './journal/line-tail.js';
import { IndexPosition, unindexedRecords } from './journal/unindexed-records.js';

export const surveySessions = (root: string): SessionSurvey => {
  const sessions: SessionMeta[] = [];
  const unreadable: { id: string; reason: string }[] = [];
  for (const id of namesIn(root)) {
    if (!isSessionId(id)) continue;
    try {
      const meta = readMeta(join(root, id), id);
      // Whoever lists it opens it by this id next.
      if (meta.id !== id) throw new UsageError(`Its session.json is that of another session.`);
      sessions.push(meta);
    } catch (error) {
      unreadable.push({ id, reason: (error as Error).message });
    }
  }
  return { sessions, unreadable };
};

const namesIn = (root: string): readonly string[] => {
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

export const readMeta = (folder: string, id: string): SessionMeta => {
  const path = join(folder, 'session.json');
  let text: string;
  try {
    text = readRegular(path).toString();
  } catch (error) {
    throw new UsageError(`There is no session "${id}"; \`skein sessions --all\` lists them.`, {
      cause: error,
    });
  }
  return parseMeta(text, path);
};

/**
 * The index, and from the journals what it lacks. At a line that cannot be read, or is out of its
 * order, its word counts no further.
 */
export function* eventsOf(
  folder: string,
  swarm: string,
  redact: (text: string) => string,
): Generator<SwarmEvent, void> {
  const citations = new IndexPosition();
  for (const line of linesOf(join(folder, 'events.jsonl'))) {
    const event = parseEvent(line);
    if (event === undefined || !citations.isFollowedBy(event)) break;
    citations.add(event);
    yield event;
  }
  let { seq } = citations;
  for (const { agent, parent, record } of unindexedRecords(folder, citations)) {
    seq += 1;
    const event = parseEvent(eventLine({ seq, swarm, agent, parent }, record, redact));
    if (event !== undefined) yield event;
  }
}

/** Follows the index alone: while its owner lives it is never more than a tick behind. */
export const watchEvents = (folder: string): EventWatch => {
  const tail = new LineTail(join(folder, 'events.jsonl'));
  let seq = 0;
  return {
    async next() {
      for (;;) {
        const lines = tail.next();
        if (lines === undefined) return [];
        const events = lines
          .flatMap((line) => parseEvent(line) ?? [])
          .filter((event) => event.seq > seq);
        seq = events.at(-1)?.seq ?? seq;
        if (events.length > 0) return events;
      }
    },
  };
};
