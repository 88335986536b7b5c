/** Events of a session, read from its folder without a lease. */
import { join } from 'node:path';
import type { EventWatch } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { eventLine, parseEvent } from './journal/event-index.js';
import { LineTail, linesOf } from './journal/line-tail.js';
import { IndexPosition, unindexedRecords } from './journal/unindexed-records.js';

/**
 * Yields the events of the index, and then the events that it lacks, from the journals. Ignores the
 * index from its first damaged or misnumbered line.
 */
export function* sessionEvents(
  folder: string,
  swarm: string,
  redact: (text: string) => string,
): Generator<SwarmEvent, void> {
  const position = new IndexPosition();
  for (const line of linesOf(join(folder, 'events.jsonl'))) {
    const event = parseEvent(line);
    if (event === undefined || !position.isFollowedBy(event)) break;
    position.add(event);
    yield event;
  }
  let { seq } = position;
  for (const { agent, parent, record } of unindexedRecords(folder, position)) {
    seq += 1;
    const event = parseEvent(eventLine({ seq, swarm, agent, parent }, record, redact));
    if (event !== undefined) yield event;
  }
}

/** Follows the index only. A live owner is at most a tick behind. */
export const watchSessionEvents = (folder: string): EventWatch => {
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
