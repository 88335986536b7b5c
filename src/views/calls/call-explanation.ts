/**
 * Why a call ran or did not, folded from the journal: which step of the pipeline decided and by which
 * rule, what hooks said, who answered, what it changed and what the model had seen before.
 */
import { redact } from '../../policy/redaction/redaction.js';
import { PIPELINE_STEPS, type PipelineStep } from '../../protocol/permission/permission.js';
import type { FileChange } from '../../protocol/session/checkpoint.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { editsOf, type FileHistory } from './call-edits.js';
import { type ListedCall, wantedIn } from './call-list.js';
import { PriorMentions, type SeenBefore } from './prior-mentions.js';
import { resultText } from './result-text.js';

export interface CallExplanation {
  readonly session: string;
  readonly call: string;
  readonly number: number;
  readonly agent: string;
  readonly tool: string;
  readonly turn: number;
  readonly askedAt: number;
  /** As JSON; what looks like a secret is taken out, and the middle of what is long. */
  readonly input: string;
  readonly outcome: string;
  readonly durationMs: number | null;
  /** What the model was told came of it, cut in the same way. */
  readonly result: string | null;
  /** Each step of the pipeline with what it did to the call; none was written down for older ones. */
  readonly steps: readonly ExplainedStep[];
  readonly rulings: readonly ExplainedRuling[];
  readonly questions: readonly ExplainedQuestion[];
  readonly hooks: readonly ExplainedHook[];
  readonly files: readonly FileHistory[];
  /** Nobody watched the disk while it ran, so its files are what its input says. */
  readonly isUnwatched: boolean;
  readonly seen: readonly SeenBefore[];
  readonly seenMore: number;
  /** When a rewind took it back. */
  readonly rewoundAt: number | null;
}

export interface ExplainedStep {
  readonly step: PipelineStep;
  readonly fate: 'passed' | 'skipped' | 'asked' | 'allowed' | 'denied' | 'not reached';
}

export interface ExplainedRuling {
  readonly behavior: 'allow' | 'deny' | 'ask';
  readonly step: string;
  readonly reason: string;
  readonly instead?: string;
  readonly rule?: string;
  readonly source?: string;
  readonly file?: string;
  readonly line?: number;
  readonly hook?: string;
  readonly by?: string;
}

export interface ExplainedQuestion {
  readonly reason: string;
  /** Null while nobody has decided. */
  readonly waitedMs: number | null;
  readonly answers: readonly {
    readonly surface: string;
    readonly outcome: string;
    readonly detail: string;
  }[];
}

export interface ExplainedHook {
  readonly event: string;
  readonly hook: string;
  readonly outcome: string;
  readonly durationMs: number;
  readonly detail: string;
}

const LONGEST_INPUT = 2_000;
const LONGEST_RESULT = 1_200;

export const explainCall = async (
  store: Pick<SessionStore, 'records'>,
  session: string,
  calls: readonly ListedCall[],
  target: ListedCall,
): Promise<CallExplanation> => {
  const lineage = await lineageOf(store, session, target.agent);
  const fold = new Explanation(calls, target, lineage);
  for (const [agent, last] of lineage) {
    for await (const record of store.records(session, agent)) {
      if (record.seq > last) break;
      fold.inherit(record);
    }
  }
  for await (const record of store.records(session, target.agent)) fold.take(record);
  return fold.report(session);
};

/** Whose records a fork began with and up to which, the oldest first. */
const lineageOf = async (
  store: Pick<SessionStore, 'records'>,
  session: string,
  agent: string,
): Promise<ReadonlyMap<string, number>> => {
  const found: [string, number][] = [];
  const seen = new Set<string>();
  for (let next: string | undefined = agent; next !== undefined && !seen.has(next); ) {
    seen.add(next);
    let from: { readonly agent: string; readonly seq: number } | undefined;
    for await (const record of store.records(session, next)) {
      if (record.type === 'agent.created') from = record.origin?.inherits;
      break;
    }
    if (from !== undefined) found.unshift([from.agent, from.seq]);
    next = from?.agent;
  }
  return new Map(found);
};

class Explanation {
  private readonly calls: readonly ListedCall[];
  private readonly target: ListedCall;
  private readonly sightings: PriorMentions;
  private readonly rulings: (JournalRecord & { type: 'call.ruled' })[] = [];
  private readonly questions = new Map<string, { askedAt: number; question: DraftQuestion }>();
  private readonly hooks: ExplainedHook[] = [];
  private input: unknown;
  private ended: (JournalRecord & { type: 'call.ended' }) | undefined;
  private changes: readonly FileChange[] | undefined;
  /** After each rewind, when the call was taken back; null while it counts. */
  private readonly fates: { readonly seq: number; readonly rewoundAt: number | null }[] = [];

  constructor(
    calls: readonly ListedCall[],
    target: ListedCall,
    lineage: ReadonlyMap<string, number>,
  ) {
    this.calls = calls;
    this.target = target;
    this.sightings = new PriorMentions(calls, target, lineage);
  }

  /** What its agent knew when it began. */
  inherit(record: JournalRecord): void {
    this.sightings.take(record);
  }

  take(record: JournalRecord): void {
    if (record.seq <= this.target.seq) this.sightings.take(record);
    if (record.type === 'assistant.received') {
      const block = record.seq === this.target.seq ? wantedIn(record.raw) : [];
      this.input = block.find(({ id }) => id === this.target.call)?.input ?? this.input;
    }
    if (record.type === 'session.rewound') {
      const { seq, to, ts } = record;
      this.fates.push({ seq, rewoundAt: to < this.target.seq ? ts : this.rewoundAt(to) });
    }
    if ('call' in record && record.call === this.target.call) this.own(record);
  }

  /** A rewind, and one that undoes another, brings back what was so at the record it goes to. */
  private rewoundAt(seq: number): number | null {
    return this.fates.findLast((fate) => fate.seq <= seq)?.rewoundAt ?? null;
  }

  report(session: string): CallExplanation {
    const { call, number, agent, tool, turn, ts, outcome } = this.target;
    const isUnwatched = this.changes === undefined;
    const rulings = this.rulings.map(rulingOf);
    return {
      session,
      call,
      number,
      agent,
      tool,
      turn,
      askedAt: ts,
      input: shortened(redact(JSON.stringify(this.input) ?? '{}'), LONGEST_INPUT),
      outcome: outcome ?? (this.target.startedAt === null ? 'not started' : 'no end'),
      durationMs: this.ended?.durationMs ?? null,
      result:
        this.ended === undefined
          ? null
          : shortened(redact(resultText(this.ended.raw)), LONGEST_RESULT),
      steps: stepsOf(rulings, outcome),
      rulings,
      questions: [...this.questions.values()].map(({ question }) => question),
      hooks: this.hooks,
      files: editsOf(this.calls, this.target, this.changes),
      isUnwatched,
      ...this.sightings.found(),
      rewoundAt: this.fates.at(-1)?.rewoundAt ?? null,
    };
  }

  private own(record: JournalRecord): void {
    switch (record.type) {
      case 'call.ruled':
        this.rulings.push(record);
        this.settle(record.ts, record.by);
        break;
      case 'question.asked': {
        const question = { reason: redact(record.reason), waitedMs: null, answers: [] };
        this.questions.set(record.question, { askedAt: record.ts, question });
        break;
      }
      case 'question.answered': {
        const { surface, outcome, detail } = record;
        const open = this.questions.get(record.question);
        open?.question.answers.push({ surface, outcome, detail: redact(detail) });
        if (open !== undefined && outcome === 'accepted') {
          open.question.waitedMs ??= record.ts - open.askedAt;
        }
        break;
      }
      case 'hook.ran': {
        const { event, hook, outcome, durationMs, detail } = record;
        const said = shortened(redact(detail), LONGEST_RESULT);
        this.hooks.push({ event, hook: redact(hook), outcome, durationMs, detail: said });
        break;
      }
      case 'files.changed':
        this.changes = record.changes;
        break;
      case 'call.ended':
        this.ended = record;
        this.settle(record.ts, undefined);
        break;
      default:
    }
  }

  /** The ruling after a question is what came of it, also in journals that do not tell who answered. */
  private settle(ts: number, by: string | undefined): void {
    for (const { askedAt, question } of this.questions.values()) {
      if (question.waitedMs !== null) continue;
      question.waitedMs = ts - askedAt;
      if (by !== undefined) question.answers.push({ surface: by, outcome: 'accepted', detail: '' });
    }
  }
}

interface DraftQuestion {
  readonly reason: string;
  waitedMs: number | null;
  readonly answers: { surface: string; outcome: string; detail: string }[];
}

const rulingOf = (record: JournalRecord & { type: 'call.ruled' }): ExplainedRuling => {
  const { behavior, step, reason, instead, rule, source, file, line, hook, by } = record;
  return {
    behavior,
    step,
    reason: redact(reason),
    ...(instead !== undefined && { instead: redact(instead) }),
    ...(rule !== undefined && { rule: redact(rule) }),
    ...(source !== undefined && { source }),
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    ...(hook !== undefined && { hook: redact(hook) }),
    ...(by !== undefined && { by }),
  };
};

const FATES = { allow: 'allowed', deny: 'denied', ask: 'asked' } as const;

const isStep = (text: string): text is PipelineStep => PIPELINE_STEPS.some((step) => step === text);

/** How far a ruling went: a hook that allows is heard after the allow rules. */
const reach = ({ step, behavior }: ExplainedRuling): number => {
  const isLate = step === 'hooks' && behavior === 'allow';
  const end = isLate ? 'callback' : step;
  return isStep(end) ? PIPELINE_STEPS.indexOf(end) : 0;
};

const stepsOf = (
  rulings: readonly ExplainedRuling[],
  outcome: ListedCall['outcome'],
): readonly ExplainedStep[] => {
  const decided = new Map<PipelineStep, ExplainedStep['fate']>();
  if (rulings.length === 0 && outcome === 'invalid') decided.set('schema', 'denied');
  for (const { step, behavior } of rulings) if (isStep(step)) decided.set(step, FATES[behavior]);
  if (decided.size === 0) return [];
  const last = Math.max(0, ...rulings.map(reach));
  const asked = decided.get('ask') === 'asked' ? PIPELINE_STEPS.indexOf('ask') : last;
  // What must be asked goes straight to the callback.
  const isSkipped = (index: number) => index > asked;
  return PIPELINE_STEPS.map((step, index) => ({
    step,
    fate:
      decided.get(step) ??
      (index >= last ? 'not reached' : isSkipped(index) ? 'skipped' : 'passed'),
  }));
};

/** Head and tail: what went wrong often stands at the end. */
const shortened = (text: string, longest: number): string => {
  if (text.length <= longest) return text;
  const half = Math.floor(longest / 2);
  const left = text.length - 2 * half;
  const [head, tail] = [text.slice(0, half), text.slice(-half)].map((part) => part.toWellFormed());
  return `${head}\n… ${left} characters left out …\n${tail}`;
};
