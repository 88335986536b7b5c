/**
 * Knows when an agent goes round in circles, folded from its journal. A turn is the calls of one message,
 * each with its result, as digests. A turn that is the same as the last one, or as the one two, three or
 * four back, is part of a circle when all in between are.
 *
 * Whatever may have changed the world or what the model knows begins the count anew: a person's words, a
 * job that has ended, a letter of another agent that says something new, a call that looks at what changes
 * by itself. What another agent says again is nothing new: two may keep each other going.
 */
import { HOOK_SENDER } from '../../protocol/permission/hooks.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import { JOB_SENDER } from '../../protocol/tools/shell-jobs.js';
import type { OpenCalls } from './open-calls.js';

/** Turns in the longest circle that is known as one. */
export const LONGEST_CIRCLE = 4;

interface Turn {
  /** Digests of its calls: of two that are the same in one message the model has not read the first. */
  readonly calls: ReadonlySet<string>;
  readonly whole: string;
}

/** Of a letter that tells nothing new if one like it was read before; null is news whatever it says. */
type Gist = string | null;

export class LoopGuard {
  /** The newest last. */
  private turns: Turn[] = [];
  /** By the length of a circle less one: how many of the last turns are those that long before them. */
  private readonly same = Array.from({ length: LONGEST_CIRCLE }, () => 0);
  private run = 0;
  /** Letters that no message has told yet. */
  private readonly waiting = new Map<string, Gist>();
  /** What other agents have said before, as far as that is remembered. */
  private heard: readonly string[] = [];
  private isOpen = true;

  /** `run` is that of the limits; `calls` are as they are after the record. */
  apply(record: JournalRecord, calls: OpenCalls, run: number): void {
    if (run !== this.run) {
      this.run = run;
      this.forget();
    }
    switch (record.type) {
      case 'letter.received':
        if (record.from !== HOOK_SENDER) this.waiting.set(record.letter, gistOf(record));
        break;
      case 'user.sent':
        this.read(record.parts);
        break;
      case 'call.ended':
      case 'assistant.received':
        if (this.isOpen && calls.isSettled) this.close(calls);
        break;
      default:
        break;
    }
  }

  /** How often in a row the last turns were the same, or went the same way round. */
  get rounds(): number {
    return Math.max(...this.same.map((many, at) => roundsIn(many, at + 1)));
  }

  /** The same with a call that has just ended, however the rest of its turn may end. */
  roundsWith(call: string): number {
    const rounds = this.same.map((many, at) =>
      this.turns.at(-1 - at)?.calls.has(call) === true ? roundsIn(many + 1, at + 1) : 1,
    );
    return Math.max(...rounds);
  }

  /** Something waits to be read that the model does not know yet. */
  get hasNews(): boolean {
    return [...this.waiting.values()].some((gist) => this.isNews(gist));
  }

  private isNews(gist: Gist): boolean {
    return gist === null || !this.heard.includes(gist);
  }

  private read(parts: readonly object[]): void {
    this.isOpen = true;
    const gists = parts.flatMap((part) => {
      const letter = 'letter' in part ? String(part.letter) : '';
      const gist = this.waiting.get(letter);
      this.waiting.delete(letter);
      return gist === undefined ? [] : [gist];
    });
    const news = gists.filter((gist) => this.isNews(gist));
    if (news.length === 0) return;
    this.forget();
    this.heard = [...this.heard, ...news.filter((gist) => gist !== null)].slice(-MOST_HEARD);
  }

  private close(calls: OpenCalls): void {
    this.isOpen = false;
    const made = [...calls.values()].map(({ trace }) => trace);
    // One without a trace was interrupted, or is on record from before there were any.
    if (made.some((trace) => trace === null || trace.polls === true)) {
      this.forget();
      return;
    }
    const traces = new Set(made.flatMap((trace) => trace?.digest ?? []));
    const whole = [...traces].sort().join();
    for (let length = 1; length <= LONGEST_CIRCLE; length += 1) {
      const isSame = this.turns.at(-length)?.whole === whole;
      this.same[length - 1] = isSame ? (this.same[length - 1] ?? 0) + 1 : 0;
    }
    this.turns = [...this.turns, { calls: traces, whole }].slice(-LONGEST_CIRCLE);
  }

  /** What comes now is compared with nothing that was. */
  private forget(): void {
    this.turns = [];
    this.same.fill(0);
  }
}

/** What was said before that is taken for news. */
const MOST_HEARD = 32;

const roundsIn = (same: number, length: number): number => 1 + Math.floor(same / length);

/** People, and what they or the agent had started, are always news; other agents may say the same again. */
const gistOf = ({ from, trace, raw }: JournalRecord & { type: 'letter.received' }): Gist =>
  from === 'user' || from === JOB_SENDER ? null : (trace ?? digestOf(raw));

/** FNV-1a, twice: for telling words apart that nobody chose in order to deceive. */
const digestOf = (text: string): string => {
  let [one, two] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul(two ^ code ^ (one >>> 15), 0x85ebca6b);
  }
  return `${(one >>> 0).toString(16)}${(two >>> 0).toString(16)}`;
};
