/** Permission questions of a session with their outcome, and the number of rulings per rule. */
import { asText } from '../../lib/text/as-text.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';

/** Cause of a ruling. */
export interface RulingCause {
  /** Step of the pipeline. */
  readonly step: string;
  readonly rule: string | null;
  readonly source: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly hook: string | null;
}

/** A call with a question, or a call that was denied without a question. */
export interface PermissionEntry extends RulingCause {
  readonly agent: string;
  readonly call: string;
  /** Id of the question. Null if the call was denied without a question. */
  readonly question: string | null;
  readonly tool: string;
  readonly description: string;
  /** Why the question was asked, or why the call was denied. */
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** `withdrawn`: the call ended before a decision. */
  readonly outcome: 'allowed' | 'denied' | 'withdrawn' | 'open';
  readonly ruledAt: number | null;
  /** Time until the ruling or the withdrawal, or until now for an open question. */
  readonly waitedMs: number;
  /** Surface that answered, or `hook`. */
  readonly by: string | null;
  /** Reason of the ruling, or null. */
  readonly ruling: string | null;
  /** Scope of an allowing answer, or null. */
  readonly scope: (typeof SCOPES)[number] | null;
  /** Rule that the answer added for the session, or null. */
  readonly granted: string | null;
}

const SCOPES = ['once', 'session', 'project'] as const;

/** Number of rulings with one cause. */
export interface RulingCount extends RulingCause {
  readonly behavior: 'allow' | 'deny' | 'ask';
  readonly count: number;
}

export interface PermissionReport {
  /** Number of questions. */
  readonly questions: number;
  /** Total waiting time of all questions, open ones until now. */
  readonly waitedMs: number;
  /** Number of denied calls, by a person or by a rule. */
  readonly denials: number;
  /** Newest entries, oldest first. */
  readonly entries: readonly PermissionEntry[];
  readonly entriesLeftOut: number;
  /** Most frequent first. */
  readonly rulings: readonly RulingCount[];
  readonly rulingsLeftOut: number;
}

const MAX_ENTRIES = 1_000;
const MAX_CAUSES = 50;
const BEHAVIORS = ['allow', 'deny', 'ask'] as const;

/** Liveness of an agent with an open question, which its events do not contain. */
export interface AskerLiveness {
  /** True if a process runs the agent and can receive an answer. */
  readonly isLive: boolean;
  /** End of the waiting time, milliseconds since 1970. */
  readonly until: number;
}

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

export class PermissionHistory {
  private entries: Draft<PermissionEntry>[] = [];
  private entriesLeftOut = 0;
  private questions = 0;
  /** Waiting time of closed questions. */
  private waitedMs = 0;
  private denials = 0;
  /** By agent, then by call. A call has at most one open question. */
  private readonly open = new Map<string, Map<string, Draft<PermissionEntry>>>();
  private readonly causes = new Map<string, Draft<RulingCount>>();
  private rulingsLeftOut = 0;

  /** `until`: end of the time in which a process ran the agent, if the event reports a takeover. */
  take(event: SwarmEvent, until: number = event.ts): void {
    const { agent, type } = event;
    if (type === 'permission.requested') this.ask(event);
    if (type === 'permission.answered') this.recordAnswer(event);
    if (type === 'permission.ruled') this.rule(event);
    if (type === 'tool.ended') this.withdraw(this.openOf(agent).get(asText(event.call)), until);
    if (type === 'epoch.began' || type === 'run.ended' || type === 'agent.stopped') {
      for (const entry of this.openOf(agent).values()) this.withdraw(entry, until);
    }
  }

  reset(): void {
    this.entries = [];
    this.open.clear();
    this.causes.clear();
    [this.entriesLeftOut, this.questions, this.denials, this.rulingsLeftOut] = [0, 0, 0, 0];
    this.waitedMs = 0;
  }

  report(livenessOf: (agent: string) => AskerLiveness): PermissionReport {
    const entries = this.entries.slice(-MAX_ENTRIES).map((entry) => {
      if (entry.outcome !== 'open') return entry;
      const { isLive, until } = livenessOf(entry.agent);
      const outcome = isLive ? ('open' as const) : ('withdrawn' as const);
      return { ...entry, outcome, waitedMs: waitOf(entry, until) };
    });
    // Includes open questions that are too old to be listed.
    const open = [...this.open.values()].flatMap((calls) => [...calls.values()]);
    const openMs = open.reduce(
      (sum, question) => sum + waitOf(question, livenessOf(question.agent).until),
      0,
    );
    return {
      questions: this.questions,
      waitedMs: this.waitedMs + openMs,
      denials: this.denials,
      entries,
      entriesLeftOut: this.entriesLeftOut + this.entries.length - entries.length,
      rulings: [...this.causes.values()].sort((a, b) => b.count - a.count),
      rulingsLeftOut: this.rulingsLeftOut,
    };
  }

  private ask(event: SwarmEvent): void {
    const open = this.openOf(event.agent);
    const call = asText(event.call);
    this.withdraw(open.get(call), event.ts);
    this.questions += 1;
    const entry = entryOf(event, 'open', asText(event.question));
    open.set(call, entry);
    this.keep(entry);
  }

  private recordAnswer(event: SwarmEvent): void {
    const question = this.openOf(event.agent).get(asText(event.call));
    if (question === undefined || event.outcome !== 'accepted') return;
    question.scope = SCOPES.find((scope) => scope === event.detail) ?? null;
  }

  private rule(event: SwarmEvent): void {
    const behavior = BEHAVIORS.find((behavior) => behavior === event.behavior);
    if (behavior === undefined) return;
    this.count(event, behavior);
    if (behavior === 'ask') return;
    const outcome = behavior === 'allow' ? 'allowed' : 'denied';
    if (outcome === 'denied') this.denials += 1;
    const open = this.openOf(event.agent);
    const call = asText(event.call);
    const question = open.get(call);
    if (question === undefined) {
      if (outcome === 'denied') this.keep(settled(entryOf(event, outcome, null), event, outcome));
      return;
    }
    open.delete(call);
    this.waitedMs += settled(question, event, outcome).waitedMs;
  }

  private count(event: SwarmEvent, behavior: RulingCount['behavior']): void {
    const cause = causeOf(event);
    const key = JSON.stringify([behavior, ...Object.values(cause)]);
    const counted = this.causes.get(key);
    if (counted !== undefined) counted.count += 1;
    else if (this.causes.size < MAX_CAUSES) this.causes.set(key, { behavior, ...cause, count: 1 });
    else this.rulingsLeftOut += 1;
  }

  private withdraw(entry: Draft<PermissionEntry> | undefined, until: number): void {
    if (entry === undefined) return;
    entry.outcome = 'withdrawn';
    entry.waitedMs = waitOf(entry, until);
    this.waitedMs += entry.waitedMs;
    this.openOf(entry.agent).delete(entry.call);
  }

  private keep(entry: Draft<PermissionEntry>): void {
    this.entries.push(entry);
    if (this.entries.length <= MAX_ENTRIES * 2) return;
    this.entriesLeftOut += this.entries.length - MAX_ENTRIES;
    this.entries = this.entries.slice(-MAX_ENTRIES);
  }

  private openOf(agent: string): Map<string, Draft<PermissionEntry>> {
    const questions = this.open.get(agent) ?? new Map<string, Draft<PermissionEntry>>();
    this.open.set(agent, questions);
    return questions;
  }
}

const entryOf = (
  event: SwarmEvent,
  outcome: PermissionEntry['outcome'],
  question: string | null,
): Draft<PermissionEntry> => ({
  agent: event.agent,
  call: asText(event.call),
  question,
  tool: asText(event.tool),
  description: asText(event.description),
  reason: asText(event.reason),
  askedAt: event.ts,
  outcome,
  ruledAt: null,
  waitedMs: 0,
  by: null,
  ruling: null,
  granted: null,
  scope: null,
  ...causeOf(event),
});

const settled = (
  entry: Draft<PermissionEntry>,
  event: SwarmEvent,
  outcome: 'allowed' | 'denied',
): Draft<PermissionEntry> =>
  Object.assign(entry, causeOf(event), {
    outcome,
    ruledAt: event.ts,
    waitedMs: waitOf(entry, event.ts),
    by: textOrNull(event.by),
    ruling: asText(event.reason),
    granted: textOrNull(event.granted),
  });

/** Never negative, because the clocks of several machines differ. */
const waitOf = ({ askedAt }: PermissionEntry, until: number): number =>
  Math.max(0, until - askedAt);

const causeOf = ({ step, rule, source, file, line, hook }: SwarmEvent): RulingCause => ({
  step: asText(step),
  rule: textOrNull(rule),
  source: textOrNull(source),
  file: textOrNull(file),
  line: typeof line === 'number' ? line : null,
  hook: textOrNull(hook),
});

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
