/**
 * Earlier results that the model had read before it requested a call, and that mention the call's
 * subject. One of them may have misled the model.
 */
import { redact } from '../../policy/redaction/redact.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import { isSameSubject, mentionIn, needlesOf } from './call-subject.js';
import type { ListedCall } from './list-calls.js';
import { resultText } from './result-text.js';

export interface PriorMention {
  readonly number: number;
  readonly tool: string;
  /** True if the earlier call had the same file, command or address. */
  readonly isSame: boolean;
  /** Number of the line that mentions the subject, starting at 1. The first line if no line mentions it. */
  readonly line: number;
  readonly text: string;
}

const MAX_MENTIONS = 5;
const MAX_LINE_LENGTH = 300;
/** No tool returns more characters. */
const MAX_RESULT_LENGTH = 400_000;

export class PriorMentions {
  private readonly byCall: ReadonlyMap<string, ListedCall>;
  private readonly target: ListedCall;
  private readonly needles: readonly string[];
  private mentions: PriorMention[] = [];
  private count = 0;

  /** `lineage`: agents whose records the agent inherited, with the number of the last inherited record. */
  constructor(
    calls: readonly ListedCall[],
    target: ListedCall,
    lineage: ReadonlyMap<string, number> = new Map(),
  ) {
    this.target = target;
    this.needles = needlesOf(target.subject, target.cwd);
    // Results of other agents are in the agent's messages only if it inherited them.
    const own = calls.filter(({ agent, seq }) =>
      agent === target.agent ? seq < target.seq : seq <= (lineage.get(agent) ?? 0),
    );
    this.byCall = new Map(own.map((call) => [call.call, call]));
  }

  take(record: JournalRecord): void {
    if (record.type !== 'call.ended') return;
    const call = this.byCall.get(record.call);
    if (call === undefined) return;
    const text = resultText(record.raw).slice(0, MAX_RESULT_LENGTH);
    const isSame = isSameSubject(call.subject, this.target.subject);
    const mention = mentionIn(text, this.needles);
    if (mention === undefined && !isSame) return;
    this.count += 1;
    const { line, text: lineText } = mention ?? { line: 1, text: text.split('\n', 1)[0] ?? '' };
    const { number, tool } = call;
    this.mentions.push({
      number,
      tool,
      isSame,
      line,
      text: redact(lineText).slice(0, MAX_LINE_LENGTH),
    });
    // Drops the oldest mention with another subject first, else the oldest.
    if (this.mentions.length > MAX_MENTIONS) {
      const old = this.mentions.findIndex((mention) => !mention.isSame);
      this.mentions.splice(Math.max(old, 0), 1);
    }
  }

  /** Returns the mentions, newest first. */
  found(): { readonly seen: readonly PriorMention[]; readonly seenMore: number } {
    return { seen: [...this.mentions].reverse(), seenMore: this.count - this.mentions.length };
  }
}
