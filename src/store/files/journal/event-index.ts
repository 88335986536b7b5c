/** Writes `events.jsonl` a tick after the journals, which can rebuild missing events. */

import { parseJson } from '../../../lib/json/parse-json.js';
import type { JournalRecord } from '../../../protocol/session/journal-record.js';
import {
  EVENTS_VERSION,
  type SwarmEvent,
  swarmEvent,
} from '../../../protocol/session/swarm-event.js';
import { projectEvent } from '../../shared/event-projection.js';
import type { IndexPosition } from './unindexed-records.js';

interface LineSink {
  append(text: string): void;
}

/** Number of waiting lines at which they are written before the end of the tick. */
const FLUSH_AT = 1_000;
/** Maximum number of lines that wait for a failing disk. The next owner adds the rest. */
const MAX_LINES = 10_000;

/** Types of records with text from outside in their events. */
const QUOTING: ReadonlySet<JournalRecord['type']> = new Set([
  'turn.failed' as const,
  'question.asked' as const,
  'call.ruled' as const,
  'call.started' as const,
  'call.ended' as const,
  'run.ended' as const,
  'bound.hit' as const,
  'agent.created' as const,
  'agent.requested' as const,
]);

export class EventIndex {
  private lines: string[] = [];
  private isFull = false;
  private flushing: NodeJS.Immediate | undefined;
  private readonly position: IndexPosition;
  private readonly swarm: string;
  private readonly sink: LineSink;
  private readonly redact: (text: string) => string;

  /** `redact` removes secrets, because events quote commands and errors. Default: no redaction. */
  constructor(
    swarm: string,
    sink: LineSink,
    position: IndexPosition,
    redact: (text: string) => string = (text) => text,
  ) {
    this.swarm = swarm;
    this.sink = sink;
    this.redact = redact;
    this.position = position;
  }

  add(agent: string, parent: string | null, record: JournalRecord): void {
    if (record.seq <= this.position.of(agent)) return;
    // Add no later events after a gap, because they would hide the missing event.
    this.isFull ||= this.lines.length >= MAX_LINES;
    if (this.isFull) return;
    const seq = this.position.seq + 1;
    this.position.add({ seq, agent, cites: record });
    this.lines.push(
      `${eventLine({ seq, swarm: this.swarm, agent, parent }, record, this.redact)}\n`,
    );
    if (this.lines.length % FLUSH_AT === 0) this.flush();
    else this.flushing ??= setImmediate(() => this.flush());
  }

  flush(): void {
    clearImmediate(this.flushing);
    this.flushing = undefined;
    if (this.lines.length === 0) return;
    try {
      this.sink.append(this.lines.join(''));
      this.lines = [];
    } catch {
      // The lines wait. If they are never written, the next owner rebuilds them from the journals.
    }
  }
}

interface EventSource {
  readonly seq: number;
  readonly swarm: string;
  readonly agent: string;
  readonly parent: string | null;
}

export const eventLine = (
  { seq, ...source }: EventSource,
  record: JournalRecord,
  redact: (text: string) => string,
): string => `${EVENT_HEAD}${seq}${eventTail(source, record, redact)}`;

/** Part of an event's line before its number. In Redis a script adds the number. */
export const EVENT_HEAD = `{"v":${EVENTS_VERSION},"seq":`;

/** Returns the part of an event's line after its number. */
export const eventTail = (
  { swarm, agent, parent }: Omit<EventSource, 'seq'>,
  record: JournalRecord,
  redact: (text: string) => string,
): string => {
  const source = `"swarm":"${swarm}","agent":"${agent}","parent":${JSON.stringify(parent)}`;
  const json = JSON.stringify(projectEvent(record));
  const fact = QUOTING.has(record.type) ? redact(json) : json;
  // Join texts, because an object with another shape for each event is slow to build.
  return `,"ts":${record.ts},${source},${fact.slice(1)}`;
};

/** Returns undefined if the line is not an event of this version. */
export const parseEvent = (line: string): SwarmEvent | undefined =>
  swarmEvent.safeParse(parseJson(line)).data;
