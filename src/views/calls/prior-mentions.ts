/**
 * What the model had been shown before it asked for a call: results that are about the same thing or
 * mention it. One of them may have misled it.
 */
import { redact } from '../../policy/redaction/redaction.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import type { ListedCall } from './call-list.js';
import { isAboutTheSame, mentionIn, needlesOf } from './call-subject.js';
import { resultText } from './result-text.js';

export interface SeenBefore {
  readonly number: number;
  readonly tool: string;
  /** It was about the very same file, command or address. */
  readonly isSame: boolean;
  /** The line that mentions it, counted from 1, and its text; the first one where none does. */
  readonly line: number;
  readonly text: string;
}

const MOST = 5;
const LONGEST_LINE = 300;
/** Of one result; no tool returns more. */
const MOST_TEXT = 400_000;

export class PriorMentions {
  private readonly byCall: ReadonlyMap<string, ListedCall>;
  private readonly target: ListedCall;
  private readonly needles: readonly string[];
  private seen: SeenBefore[] = [];
  private count = 0;

  /** `lineage`: whose records the model had before its own, by agent, each up to this one. */
  constructor(
    calls: readonly ListedCall[],
    target: ListedCall,
    lineage: ReadonlyMap<string, number> = new Map(),
  ) {
    this.target = target;
    this.needles = needlesOf(target.subject, target.cwd);
    // Another agent's results are not in this one's messages, unless it began with them.
    const own = calls.filter(({ agent, seq }) =>
      agent === target.agent ? seq < target.seq : seq <= (lineage.get(agent) ?? 0),
    );
    this.byCall = new Map(own.map((call) => [call.call, call]));
  }

  take(record: JournalRecord): void {
    if (record.type !== 'call.ended') return;
    const call = this.byCall.get(record.call);
    if (call === undefined) return;
    const text = resultText(record.raw).slice(0, MOST_TEXT);
    const isSame = isAboutTheSame(call.subject, this.target.subject);
    const mention = mentionIn(text, this.needles);
    if (mention === undefined && !isSame) return;
    this.count += 1;
    const { line, text: said } = mention ?? { line: 1, text: text.split('\n', 1)[0] ?? '' };
    const { number, tool } = call;
    this.seen.push({ number, tool, isSame, line, text: redact(said).slice(0, LONGEST_LINE) });
    // The newest count most: what is about the same thing stays, and else what came last.
    if (this.seen.length > MOST) {
      const old = this.seen.findIndex((it) => !it.isSame);
      this.seen.splice(Math.max(old, 0), 1);
    }
  }

  /** The newest first. */
  found(): { readonly seen: readonly SeenBefore[]; readonly seenMore: number } {
    return { seen: [...this.seen].reverse(), seenMore: this.count - this.seen.length };
  }
}
