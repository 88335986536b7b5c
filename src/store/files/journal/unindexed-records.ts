/**
 * What the event index still lacks. It is written a tick late and its owner may be killed in that tick,
 * so the rest is drawn from the journals of all agents, in the order in which it happened.
 */
import fs from 'node:fs';
import type { SwarmEvent } from '../../../protocol/session/events.js';
import type { JournalRecord } from '../../../protocol/session/journal.js';
import { parseEvent } from './event-index.js';
import { recordsOf } from './journal-lines.js';
import { agentsOf, journalPath } from './journal-place.js';
import { lastLineStart, linesOf } from './line-tail.js';
import { merge } from './merge.js';

/** How far an index has come: its newest number, and the newest journal entry of each agent in it. */
export class IndexPosition {
  seq = 0;
  readonly agents = new Map<string, number>();

  add({ seq, agent, cites }: Pick<SwarmEvent, 'seq' | 'agent' | 'cites'>): void {
    this.seq = Math.max(this.seq, seq);
    this.agents.set(agent, Math.max(this.of(agent), cites.seq));
  }

  /** False for what a former owner added to an index that was no longer its own. */
  isFollowedBy({ seq }: Pick<SwarmEvent, 'seq'>): boolean {
    return seq === this.seq + 1;
  }

  of(agent: string): number {
    return this.agents.get(agent) ?? 0;
  }
}

/** An index with a line that cannot be read, or out of its order, is put aside and drawn again. */
export const indexPositionIn = (path: string): IndexPosition => {
  const citations = new IndexPosition();
  for (const line of linesOf(path)) {
    const event = parseEvent(line);
    if (event === undefined || !citations.isFollowedBy(event)) {
      fs.renameSync(path, `${path}.damaged`);
      return new IndexPosition();
    }
    citations.add(event);
  }
  return citations;
};

export interface UnindexedRecord {
  readonly agent: string;
  readonly parent: string | null;
  /** 0 for the lead. */
  readonly depth: number;
  readonly record: JournalRecord;
}

/** Journals that are merged share so much memory. */
const MERGING_BYTES = 16 * 1024 * 1024;

export function* unindexedRecords(
  folder: string,
  citations: IndexPosition,
): Generator<UnindexedRecord, void> {
  const late = agentsOf(folder).filter(
    (agent) => seqAtEnd(journalPath(folder, agent)) !== citations.of(agent),
  );
  const piece = Math.floor(MERGING_BYTES / Math.max(1, late.length));
  const sequences = late.map((agent) => since(folder, agent, citations.of(agent), piece));
  yield* merge(sequences, isEarlier);
}

function* since(
  folder: string,
  agent: string,
  known: number,
  piece: number,
): Generator<UnindexedRecord, void> {
  let [parent, depth]: [string | null, number] = [null, 0];
  for (const record of recordsOf(journalPath(folder, agent), piece)) {
    if (record.type === 'agent.created') {
      parent = record.parent;
      depth = record.origin?.depth ?? 0;
    }
    if (record.seq > known) yield { agent, parent, depth, record };
  }
}

/** What a parent did comes before what that made its child do in the same millisecond. */
const isEarlier = (one: UnindexedRecord, other: UnindexedRecord): boolean => {
  if (one.record.ts !== other.record.ts) return one.record.ts < other.record.ts;
  if (one.depth !== other.depth) return one.depth < other.depth;
  return one.agent < other.agent;
};

/** The number that a line begins with, of a record or an event. */
export const seqOf = (line: string): number | undefined => {
  const found = /^\{"v":\d+,"seq":(\d+),/.exec(line)?.[1];
  return found === undefined ? undefined : Number(found);
};

/** Undefined when it cannot be told at a glance. */
const seqAtEnd = (path: string): number | undefined => seqOf(lastLineStart(path) ?? '');
