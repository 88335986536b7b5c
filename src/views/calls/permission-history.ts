/** Every permission question of a session and what came of it, and how often each rule decided. */
import type { SwarmEvent } from '../../protocol/session/events.js';

/** What decided about a call, as its ruling says. */
export interface RulingCause {
  /** The step of the pipeline. */
  readonly step: string;
  readonly rule: string | null;
  readonly source: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly hook: string | null;
}

/** A call that was asked about, or denied without asking anybody. */
export interface PermissionEntry extends RulingCause {
  readonly agent: string;
  readonly call: string;
  /** Null when nobody was asked. */
  readonly question: string | null;
  readonly tool: string;
  readonly description: string;
  /** Why it was asked or denied. */
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** `withdrawn`: it came to an end before anybody had decided. */
  readonly outcome: 'allowed' | 'denied' | 'withdrawn' | 'open';
  readonly ruledAt: number | null;
  /** Until the ruling or the withdrawal, of an open one so far. */
  readonly waitedMs: number;
  /** The surface that answered, or `hook`. */
  readonly by: string | null;
  /** What the ruling says; null without one. */
  readonly ruling: string | null;
  /** For how long somebody allowed it. */
  readonly scope: (typeof SCOPES)[number] | null;
  /** The rule that the answer added for the session. */
  readonly granted: string | null;
}

const SCOPES = ['once', 'session', 'project'] as const;

/** Rulings of one cause. */
export interface RulingCount extends RulingCause {
  readonly behavior: 'allow' | 'deny' | 'ask';
  readonly count: number;
}

export interface PermissionReport {
  /** Questions that were put to somebody. */
  readonly questions: number;
  /** How long all of them waited together, open ones so far. */
  readonly waitedMs: number;
  /** Calls that were denied, by somebody or by a rule. */
  readonly denials: number;
  /** The newest ones, oldest first. */
  readonly entries: readonly PermissionEntry[];
  readonly entriesLeftOut: number;
  /** The most frequent first. */
  readonly rulings: readonly RulingCount[];
  readonly rulingsLeftOut: number;
}

const MOST_ENTRIES = 1_000;
const MOST_CAUSES = 50;
const BEHAVIORS = ['allow', 'deny', 'ask'] as const;

/** What the events do not tell of an agent with an open question. */
export interface AskerStanding {
  /** Somebody runs it, and may still be told. */
  readonly isLive: boolean;
  /** Its question has waited until then; milliseconds since 1970. */
  readonly until: number;
}

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

export class PermissionHistory {
  private entries: Draft<PermissionEntry>[] = [];
  private entriesLeftOut = 0;
  private questions = 0;
  /** Without those that are open. */
  private waitedMs = 0;
  private denials = 0;
  /** By agent, then by call: a call has one open question at most. */
  private readonly open = new Map<string, Map<string, Draft<PermissionEntry>>>();
  private readonly causes = new Map<string, Draft<RulingCount>>();
  private rulingsLeftOut = 0;

  /** `until`: the last moment at which somebody ran the agent, where the event says that another process has it. */
  take(event: SwarmEvent, until: number = event.ts): void {
    const { agent, type } = event;
    if (type === 'permission.requested') this.ask(event);
    if (type === 'permission.answered') this.hear(event);
    if (type === 'permission.ruled') this.rule(event);
    if (type === 'tool.ended') this.withdraw(this.openOf(agent).get(textOf(event.call)), until);
    if (type === 'epoch.began' || type === 'run.ended' || type === 'agent.stopped') {
      for (const entry of this.openOf(agent).values()) this.withdraw(entry, until);
    }
  }

  forget(): void {
    this.entries = [];
    this.open.clear();
    this.causes.clear();
    [this.entriesLeftOut, this.questions, this.denials, this.rulingsLeftOut] = [0, 0, 0, 0];
    this.waitedMs = 0;
  }

  report(standingOf: (agent: string) => AskerStanding): PermissionReport {
    const entries = this.entries.slice(-MOST_ENTRIES).map((entry) => {
      if (entry.outcome !== 'open') return entry;
      const { isLive, until } = standingOf(entry.agent);
      const outcome = isLive ? ('open' as const) : ('withdrawn' as const);
      return { ...entry, outcome, waitedMs: waitOf(entry, until) };
    });
    // Also those that are too old to be listed.
    const open = [...this.open.values()].flatMap((calls) => [...calls.values()]);
    const openMs = open.reduce((sum, it) => sum + waitOf(it, standingOf(it.agent).until), 0);
    return {
      questions: this.questions,
      waitedMs: this.waitedMs + openMs,
      denials: this.denials,
      entries,
      entriesLeftOut: this.entriesLeftOut + this.entries.length - entries.length,
      rulings: [...this.causes.values()].sort((one, other) => other.count - one.count),
      rulingsLeftOut: this.rulingsLeftOut,
    };
  }

  private ask(event: SwarmEvent): void {
    const open = this.openOf(event.agent);
    const call = textOf(event.call);
    this.withdraw(open.get(call), event.ts);
    this.questions += 1;
    const entry = entryOf(event, 'open', textOf(event.question));
    open.set(call, entry);
    this.keep(entry);
  }

  private hear(event: SwarmEvent): void {
    const asked = this.openOf(event.agent).get(textOf(event.call));
    if (asked === undefined || event.outcome !== 'accepted') return;
    asked.scope = SCOPES.find((scope) => scope === event.detail) ?? null;
  }

  private rule(event: SwarmEvent): void {
    const behavior = BEHAVIORS.find((known) => known === event.behavior);
    if (behavior === undefined) return;
    this.count(event, behavior);
    if (behavior === 'ask') return;
    const outcome = behavior === 'allow' ? 'allowed' : 'denied';
    if (outcome === 'denied') this.denials += 1;
    const open = this.openOf(event.agent);
    const call = textOf(event.call);
    const asked = open.get(call);
    if (asked === undefined) {
      if (outcome === 'denied') this.keep(settled(entryOf(event, outcome, null), event, outcome));
      return;
    }
    open.delete(call);
    this.waitedMs += settled(asked, event, outcome).waitedMs;
  }

  private count(event: SwarmEvent, behavior: RulingCount['behavior']): void {
    const cause = causeOf(event);
    const key = JSON.stringify([behavior, ...Object.values(cause)]);
    const known = this.causes.get(key);
    if (known !== undefined) known.count += 1;
    else if (this.causes.size < MOST_CAUSES) this.causes.set(key, { behavior, ...cause, count: 1 });
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
    if (this.entries.length <= MOST_ENTRIES * 2) return;
    this.entriesLeftOut += this.entries.length - MOST_ENTRIES;
    this.entries = this.entries.slice(-MOST_ENTRIES);
  }

  private openOf(agent: string): Map<string, Draft<PermissionEntry>> {
    const known = this.open.get(agent) ?? new Map<string, Draft<PermissionEntry>>();
    this.open.set(agent, known);
    return known;
  }
}

const entryOf = (
  event: SwarmEvent,
  outcome: PermissionEntry['outcome'],
  question: string | null,
): Draft<PermissionEntry> => ({
  agent: event.agent,
  call: textOf(event.call),
  question,
  tool: textOf(event.tool),
  description: textOf(event.description),
  reason: textOf(event.reason),
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
    ruling: textOf(event.reason),
    granted: textOrNull(event.granted),
  });

/** Clocks of several machines differ. */
const waitOf = ({ askedAt }: PermissionEntry, until: number): number =>
  Math.max(0, until - askedAt);

const causeOf = ({ step, rule, source, file, line, hook }: SwarmEvent): RulingCause => ({
  step: textOf(step),
  rule: textOrNull(rule),
  source: textOrNull(source),
  file: textOrNull(file),
  line: typeof line === 'number' ? line : null,
  hook: textOrNull(hook),
});

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
