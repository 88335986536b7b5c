/**
 * Loop guard: detects an agent that repeats the same calls with the same results, folded from its
 * journal. A turn is the set of call digests of a message. Turns form a circle if each equals the
 * turn one, two, three or four before it.
 *
 * New information resets the count: a prompt, an ended job, new text of another agent, or a call
 * that polls a changing state. Repeated text of another agent does not, because two agents may keep
 * each other running.
 */
import { HOOK_SENDER } from '../../protocol/permission/hooks.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import { JOB_SENDER } from '../../protocol/tools/shell-jobs.js';
import type { OpenCalls } from './open-calls.js';

/** Maximum turns in a circle. */
const MAX_CIRCLE_LENGTH = 4;

interface Turn {
  /**
   * Digests of the calls. Equal calls of a message count once, because they run without each
   * other's result.
   */
  readonly calls: ReadonlySet<string>;
  readonly whole: string;
}

/** Digest of a letter's text; null for a letter that is always new information. */
type Gist = string | null;

export class LoopGuard {
  /** Last turns, newest last. */
  private turns: Turn[] = [];
  /** Number of last turns that equal the turn `index + 1` before them. */
  private readonly same = Array.from({ length: MAX_CIRCLE_LENGTH }, () => 0);
  private run = 0;
  /** Letters that are not in a message yet. */
  private readonly waiting = new Map<string, Gist>();
  /** Gists of the last letters from other agents. */
  private recentGists: readonly string[] = [];
  private isOpen = true;

  /** `run` is the run that limits count; `calls` is the state after the record. */
  apply(record: JournalRecord, calls: OpenCalls, run: number): void {
    if (run !== this.run) {
      this.run = run;
      this.reset();
    }
    switch (record.type) {
      case 'letter.received':
        if (record.from !== HOOK_SENDER) this.waiting.set(record.letter, gistOf(record));
        break;
      case 'user.sent':
        this.readLetters(record.parts);
        break;
      case 'call.ended':
      case 'assistant.received':
        if (this.isOpen && calls.isSettled) this.endTurn(calls);
        break;
      default:
        break;
    }
  }

  /** Number of times that the last circle was repeated; 1 without a repetition. */
  get rounds(): number {
    return Math.max(...this.same.map((count, at) => roundsIn(count, at + 1)));
  }

  /**
   * Returns `rounds` as it will be if the open turn repeats; `call` is the digest of an ended call.
   */
  roundsWith(call: string): number {
    const rounds = this.same.map((count, at) =>
      this.turns.at(-1 - at)?.calls.has(call) === true ? roundsIn(count + 1, at + 1) : 1,
    );
    return Math.max(...rounds);
  }

  /** True if a waiting letter holds new information. */
  get hasNews(): boolean {
    return [...this.waiting.values()].some((gist) => this.isNews(gist));
  }

  private isNews(gist: Gist): boolean {
    return gist === null || !this.recentGists.includes(gist);
  }

  private readLetters(parts: readonly object[]): void {
    this.isOpen = true;
    const gists = parts.flatMap((part) => {
      const letter = 'letter' in part ? String(part.letter) : '';
      const gist = this.waiting.get(letter);
      this.waiting.delete(letter);
      return gist === undefined ? [] : [gist];
    });
    const news = gists.filter((gist) => this.isNews(gist));
    if (news.length === 0) return;
    this.reset();
    this.recentGists = [...this.recentGists, ...news.filter((gist) => gist !== null)].slice(
      -MAX_RECENT_GISTS,
    );
  }

  private endTurn(calls: OpenCalls): void {
    this.isOpen = false;
    const made = [...calls.values()].map(({ trace }) => trace);
    // A call without a trace was interrupted or comes from an old version.
    if (made.some((trace) => trace === null || trace.polls === true)) {
      this.reset();
      return;
    }
    const traces = new Set(made.flatMap((trace) => trace?.digest ?? []));
    const whole = [...traces].sort().join();
    for (let length = 1; length <= MAX_CIRCLE_LENGTH; length += 1) {
      const isSame = this.turns.at(-length)?.whole === whole;
      this.same[length - 1] = isSame ? (this.same[length - 1] ?? 0) + 1 : 0;
    }
    this.turns = [...this.turns, { calls: traces, whole }].slice(-MAX_CIRCLE_LENGTH);
  }

  private reset(): void {
    this.turns = [];
    this.same.fill(0);
  }
}

/** Maximum remembered gists. */
const MAX_RECENT_GISTS = 32;

const roundsIn = (same: number, length: number): number => 1 + Math.floor(same / length);

/** Returns null for letters of people and jobs, which are always new information. */
const gistOf = ({ from, trace, raw }: JournalRecord & { type: 'letter.received' }): Gist =>
  from === 'user' || from === JOB_SENDER ? null : (trace ?? digestOf(raw));

/** Two rounds of FNV-1a. Not safe against deliberate collisions, which would only delay a stop. */
const digestOf = (text: string): string => {
  let [first, second] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second ^ code ^ (first >>> 15), 0x85ebca6b);
  }
  return `${(first >>> 0).toString(16)}${(second >>> 0).toString(16)}`;
};
