/** A session's folder as those see it who do not own it: nothing here writes, and nothing is held. */
import fs from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../protocol/errors.js';
import type { SwarmEvent } from '../protocol/events.js';
import type { EventWatch, SessionMeta, SessionSurvey } from '../protocol/store.js';
import { eventLine, parseEvent } from './event-index.js';
import { recordsOf } from './journal-lines.js';
import { LineTail, lastLineStart, linesOf } from './line-tail.js';
import { readRegular } from './regular-file.js';
import { isSessionId, parseMeta } from './session-meta.js';

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

export const agentsOf = (folder: string): readonly string[] => {
  const agents = join(folder, 'agents');
  if (!fs.existsSync(agents)) return [];
  const names = fs.readdirSync(agents).filter((name) => name.endsWith('.jsonl'));
  return names.map((name) => name.slice(0, -'.jsonl'.length)).sort();
};

export const journalPath = (folder: string, agent: string): string =>
  join(folder, 'agents', `${agent}.jsonl`);

/**
 * The index is written a tick late and its owner may be killed in that tick, so what it lacks is drawn
 * from the journals. At a line that cannot be read its word counts no further.
 */
export function* eventsOf(
  folder: string,
  swarm: string,
  redact: (text: string) => string,
): Generator<SwarmEvent, void> {
  const cited = new Map<string, number>();
  let seq = 0;
  for (const line of linesOf(join(folder, 'events.jsonl'))) {
    const event = parseEvent(line);
    if (event === undefined) break;
    seq = Math.max(seq, event.seq);
    cited.set(event.agent, Math.max(cited.get(event.agent) ?? 0, event.cites.seq));
    yield event;
  }
  for (const agent of agentsOf(folder)) {
    const path = journalPath(folder, agent);
    const known = cited.get(agent) ?? 0;
    if (lastSeq(path) === known) continue;
    let parent: string | null = null;
    for (const record of recordsOf(path)) {
      if (record.type === 'agent.created') parent = record.parent;
      if (record.seq <= known) continue;
      seq += 1;
      const event = parseEvent(eventLine({ seq, swarm, agent, parent }, record, redact));
      if (event !== undefined) yield event;
    }
  }
}

/** The number of the newest record; undefined when it cannot be told at a glance. */
const lastSeq = (path: string): number | undefined => {
  const found = /^\{"v":\d+,"seq":(\d+),/.exec(lastLineStart(path) ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
};

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
