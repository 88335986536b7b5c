/**
 * Finds journal records that the event index lacks. The index is written a tick late and its owner
 * can be killed in that tick, so missing events are rebuilt from all journals, in order of time.
 */
import fs from 'node:fs';
import { dirname } from 'node:path';
import type { JournalRecord } from '../../../protocol/session/journal-record.js';
import type { SwarmEvent } from '../../../protocol/session/swarm-event.js';
import { freeName } from '../io/free-name.js';
import { parseEvent } from './event-index.js';
import { journaledAgents, journalPath } from './journal-file.js';
import { lastLineStart, linesOf, tornLineStart } from './line-tail.js';
import { recordsOf } from './read-journal.js';

/** Position of an event index: its last number, and the last indexed record of each agent. */
export class IndexPosition {
  seq = 0;
  readonly agents = new Map<string, number>();

  add({ seq, agent, cites }: Pick<SwarmEvent, 'seq' | 'agent' | 'cites'>): void {
    this.seq = Math.max(this.seq, seq);
    this.agents.set(agent, Math.max(this.of(agent), cites.seq));
  }

  /** False for an event that a former owner added after it had lost the session. */
  isFollowedBy({ seq }: Pick<SwarmEvent, 'seq'>): boolean {
    return seq === this.seq + 1;
  }

  of(agent: string): number {
    return this.agents.get(agent) ?? 0;
  }
}

export interface ReadIndex {
  /** Position of the index, or the start if the index must be rebuilt. */
  readonly position: IndexPosition;
  /** Last record of each agent that an event cites, also in a damaged index. */
  readonly lastCited: ReadonlyMap<string, number>;
  /** Sentences about damage. */
  readonly damage: readonly string[];
}

/** Reads an index. Renames a damaged index to `<path>.damaged`, so that it is rebuilt. */
export const readIndex = (path: string): ReadIndex => {
  const position = new IndexPosition();
  const cited = new IndexPosition();
  let [line, damagedLine] = [0, 0];
  for (const text of linesOf(path)) {
    line += 1;
    const event = parseEvent(text);
    if (event !== undefined) cited.add(event);
    if (damagedLine > 0) continue;
    if (event === undefined || !position.isFollowedBy(event)) damagedLine = line;
    else position.add(event);
  }
  addTornEvent(cited, path);
  const lastCited = new Map(cited.agents);
  if (damagedLine === 0) return { position, lastCited, damage: [] };
  const kept = freeName(`${path}.damaged`);
  fs.renameSync(path, kept);
  const damage = [
    `${path}:${damagedLine} cannot be read or has a wrong number; the events are rebuilt, and the old file is ${kept}`,
  ];
  return { position: new IndexPosition(), lastCited, damage };
};

/**
 * Adds the record that a torn last line cites, because an event is written after its record. If the line does not
 * show its agent, it is the agent of the only journal, and if it does not show its record, it is the next record.
 */
const addTornEvent = (cited: IndexPosition, path: string): void => {
  const line = tornLineStart(path);
  const [only, ...others] = journaledAgents(dirname(path));
  const agent = /"agent":"([^"]+)"/.exec(line)?.[1] ?? (others.length === 0 ? only : undefined);
  if (line === '' || agent === undefined) return;
  const seq = Number(/"cites":\{"seq":(\d+)[,}]/.exec(line)?.[1] ?? cited.of(agent) + 1);
  cited.add({ seq: cited.seq + 1, agent, cites: { seq } });
};

interface UnindexedRecord {
  readonly agent: string;
  readonly parent: string | null;
  /** Depth of the agent in the tree. 0 for the lead. */
  readonly depth: number;
  readonly record: JournalRecord;
}

/** Memory in bytes that all merged journals share. */
const MERGING_BYTES = 16 * 1024 * 1024;

/** Yields the missing records of all journals in order of time. */
export function* unindexedRecords(
  folder: string,
  position: IndexPosition,
): Generator<UnindexedRecord, void> {
  const behind = journaledAgents(folder).filter(
    (agent) => seqAtEnd(journalPath(folder, agent)) !== position.of(agent),
  );
  const chunkBytes = Math.floor(MERGING_BYTES / Math.max(1, behind.length));
  const sequences = behind.map((agent) =>
    recordsSince(folder, agent, position.of(agent), chunkBytes),
  );
  yield* mergeSorted(sequences, isEarlier);
}

function* recordsSince(
  folder: string,
  agent: string,
  indexedSeq: number,
  chunkBytes: number,
): Generator<UnindexedRecord, void> {
  let [parent, depth]: [string | null, number] = [null, 0];
  for (const record of recordsOf(journalPath(folder, agent), chunkBytes)) {
    if (record.type === 'agent.created') {
      parent = record.parent;
      depth = record.origin?.depth ?? 0;
    }
    if (record.seq > indexedSeq) yield { agent, parent, depth, record };
  }
}

/**
 * Parents come before children, because a child's record can follow from a parent's in the same
 * millisecond.
 */
const isEarlier = (first: UnindexedRecord, second: UnindexedRecord): boolean => {
  if (first.record.ts !== second.record.ts) return first.record.ts < second.record.ts;
  if (first.depth !== second.depth) return first.depth < second.depth;
  return first.agent < second.agent;
};

/** Returns the number at the start of a record's or event's line. */
export const seqOf = (line: string): number | undefined => {
  const match = /^\{"v":\d+,"seq":(\d+),/.exec(line)?.[1];
  return match === undefined ? undefined : Number(match);
};

/** Returns the number of the last record. Returns undefined if the last line does not show it. */
const seqAtEnd = (path: string): number | undefined => seqOf(lastLineStart(path) ?? '');

interface Head<Item> {
  item: Item;
  readonly rest: Iterator<Item, void>;
}

/** Merges sorted sequences with a heap, because there can be a thousand of them. */
function* mergeSorted<Item>(
  sequences: readonly Iterator<Item, void>[],
  isEarlier: (first: Item, second: Item) => boolean,
): Generator<Item, void> {
  const heap: Head<Item>[] = [];
  const isBefore = (a: number, b: number) => {
    const [first, second] = [heap[a], heap[b]];
    return first !== undefined && (second === undefined || isEarlier(first.item, second.item));
  };
  const swap = (a: number, b: number) => {
    const [first, second] = [heap[a], heap[b]];
    if (first === undefined || second === undefined) return;
    heap[a] = second;
    heap[b] = first;
  };
  const rise = (from: number) => {
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1;
      if (!isBefore(at, above)) return;
      swap(at, above);
      at = above;
    }
  };
  const sink = () => {
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const below = isBefore(right, left) ? right : left;
      if (!isBefore(below, at)) return;
      swap(at, below);
      at = below;
    }
  };
  for (const rest of sequences) {
    const { done, value } = rest.next();
    if (done === true) continue;
    heap.push({ item: value, rest });
    rise(heap.length - 1);
  }
  for (let head = heap[0]; head !== undefined; head = heap[0]) {
    yield head.item;
    const { done, value } = head.rest.next();
    if (done === true) {
      swap(0, heap.length - 1);
      heap.pop();
    } else head.item = value;
    sink();
  }
}
