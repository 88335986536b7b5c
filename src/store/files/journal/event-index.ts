/** `events.jsonl`: written behind the journals, a tick late, and mended from them when it lags. */

import { EVENTS_VERSION, type SwarmEvent, swarmEvent } from '../../../protocol/session/events.js';
import type { JournalRecord } from '../../../protocol/session/journal.js';
import { eventOf } from '../../shared/event-projection.js';
import type { IndexPosition } from './unindexed-records.js';

export interface EventSink {
  append(text: string): void;
}

/** Lines that wait for the end of a tick; more are written at once. */
const MANY = 1_000;
/** Lines that may wait for a disk that does not take them. The next owner adds the rest. */
const MAX_WAITING = 10_000;

/** Records whose events have words in them that came from outside. */
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
  private waiting: string[] = [];
  private isFull = false;
  private flushing: NodeJS.Immediate | undefined;
  private readonly cited: IndexPosition;
  private readonly swarm: string;
  private readonly sink: EventSink;
  private readonly redact: (text: string) => string;

  /** `redact` takes secrets out of a line: commands and errors are quoted in events. */
  constructor(
    swarm: string,
    sink: EventSink,
    cited: IndexPosition,
    redact: (text: string) => string = (text) => text,
  ) {
    this.swarm = swarm;
    this.sink = sink;
    this.redact = redact;
    this.cited = cited;
  }

  add(agent: string, parent: string | null, record: JournalRecord): void {
    if (record.seq <= this.cited.of(agent)) return;
    // Without gaps: what comes after an event that is not there would hide that it is missing.
    this.isFull ||= this.waiting.length >= MAX_WAITING;
    if (this.isFull) return;
    const seq = this.cited.seq + 1;
    this.cited.add({ seq, agent, cites: record });
    this.waiting.push(
      `${eventLine({ seq, swarm: this.swarm, agent, parent }, record, this.redact)}\n`,
    );
    if (this.waiting.length % MANY === 0) this.flush();
    else this.flushing ??= setImmediate(() => this.flush());
  }

  flush(): void {
    clearImmediate(this.flushing);
    this.flushing = undefined;
    if (this.waiting.length === 0) return;
    try {
      this.sink.append(this.waiting.join(''));
      this.waiting = [];
    } catch {
      // They wait. The journals hold the truth, and the next owner draws what is missing from them.
    }
  }
}

export interface EventPlace {
  readonly seq: number;
  readonly swarm: string;
  readonly agent: string;
  readonly parent: string | null;
}

export const eventLine = (
  { seq, ...place }: EventPlace,
  record: JournalRecord,
  redact: (text: string) => string,
): string => `${EVENT_HEAD}${seq}${eventTail(place, record, redact)}`;

/** What stands ahead of an event's number, and behind it: where others count, it is put in by them. */
export const EVENT_HEAD = `{"v":${EVENTS_VERSION},"seq":`;

export const eventTail = (
  { swarm, agent, parent }: Omit<EventPlace, 'seq'>,
  record: JournalRecord,
  redact: (text: string) => string,
): string => {
  const place = `"swarm":"${swarm}","agent":"${agent}","parent":${JSON.stringify(parent)}`;
  const plain = JSON.stringify(eventOf(record));
  const fact = QUOTING.has(record.type) ? redact(plain) : plain;
  // Texts are joined, because one object of a different shape for each event is slow to make.
  return `,"ts":${record.ts},${place},${fact.slice(1)}`;
};

/** Undefined when the line is no event of this version. */
export const parseEvent = (line: string): SwarmEvent | undefined => {
  try {
    return swarmEvent.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
};
