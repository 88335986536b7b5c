/**
 * Explains why a call ran or did not, from the journal: the deciding pipeline step and rule, hooks,
 * answers, file changes, and earlier results that the model had read.
 */
import { redact } from '../../policy/redaction/redact.js';
import { PIPELINE_STEPS, type PipelineStep } from '../../protocol/permission/ruling.js';
import type { FileChange } from '../../protocol/session/checkpoints.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { callEdits, type FileEditHistory } from './call-edits.js';
import { type ListedCall, toolUseBlocks } from './list-calls.js';
import { type PriorMention, PriorMentions } from './prior-mentions.js';
import { resultText } from './result-text.js';

export interface CallExplanation {
  readonly session: string;
  readonly call: string;
  readonly number: number;
  readonly agent: string;
  readonly tool: string;
  readonly turn: number;
  readonly askedAt: number;
  /** JSON without secrets. The middle of a long input is left out. */
  readonly input: string;
  readonly outcome: string;
  readonly durationMs: number | null;
  /** Result text for the model, shortened in the same way. */
  readonly result: string | null;
  /** All pipeline steps and their effect on the call. Empty if no ruling was journaled. */
  readonly steps: readonly ExplainedStep[];
  readonly rulings: readonly ExplainedRuling[];
  readonly questions: readonly ExplainedQuestion[];
  readonly hooks: readonly ExplainedHook[];
  /** Kinds of orders to the reader that the result contains. */
  readonly orders: readonly string[];
  readonly files: readonly FileEditHistory[];
  /** True if no checkpoint watched the call, so that `files` come from its input. */
  readonly isUnwatched: boolean;
  readonly seen: readonly PriorMention[];
  readonly seenMore: number;
  /** Time of the rewind that undid the call, or null. */
  readonly rewoundAt: number | null;
}

interface ExplainedStep {
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

interface ExplainedQuestion {
  readonly reason: string;
  /** Null while the question is open. */
  readonly waitedMs: number | null;
  readonly answers: readonly {
    readonly surface: string;
    readonly outcome: string;
    readonly detail: string;
  }[];
}

interface ExplainedHook {
  readonly event: string;
  readonly hook: string;
  readonly outcome: string;
  readonly durationMs: number;
  readonly detail: string;
  readonly exitCode?: number;
}

const MAX_INPUT_LENGTH = 2_000;
const MAX_RESULT_LENGTH = 1_200;

export const explainCall = async (
  store: Pick<SessionStore, 'records'>,
  session: string,
  calls: readonly ListedCall[],
  target: ListedCall,
): Promise<CallExplanation> => {
  const lineage = await lineageOf(store, session, target.agent);
  const fold = new ExplanationFold(calls, target, lineage);
  for (const [agent, last] of lineage) {
    for await (const record of store.records(session, agent)) {
      if (record.seq > last) break;
      fold.inherit(record);
    }
  }
  for await (const record of store.records(session, target.agent)) fold.take(record);
  return fold.report(session);
};

/** Returns the agents whose records a fork starts with, and the last record of each, oldest first. */
const lineageOf = async (
  store: Pick<SessionStore, 'records'>,
  session: string,
  agent: string,
): Promise<ReadonlyMap<string, number>> => {
  const found: [string, number][] = [];
  const visited = new Set<string>();
  for (let next: string | undefined = agent; next !== undefined && !visited.has(next); ) {
    visited.add(next);
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

class ExplanationFold {
  private readonly calls: readonly ListedCall[];
  private readonly target: ListedCall;
  private readonly mentions: PriorMentions;
  private readonly rulings: (JournalRecord & { type: 'call.ruled' })[] = [];
  private readonly questions = new Map<string, { askedAt: number; question: DraftQuestion }>();
  private readonly hooks: ExplainedHook[] = [];
  private orders: readonly string[] = [];
  private input: unknown;
  private ended: (JournalRecord & { type: 'call.ended' }) | undefined;
  private changes: readonly FileChange[] | undefined;
  /** State after each rewind: the time at which the call was undone, or null if it is in effect. */
  private readonly fates: { readonly seq: number; readonly rewoundAt: number | null }[] = [];

  constructor(
    calls: readonly ListedCall[],
    target: ListedCall,
    lineage: ReadonlyMap<string, number>,
  ) {
    this.calls = calls;
    this.target = target;
    this.mentions = new PriorMentions(calls, target, lineage);
  }

  /** Takes a record that the agent inherited. */
  inherit(record: JournalRecord): void {
    this.mentions.take(record);
  }

  take(record: JournalRecord): void {
    if (record.seq <= this.target.seq) this.mentions.take(record);
    if (record.type === 'assistant.received') {
      const block = record.seq === this.target.seq ? toolUseBlocks(record.raw) : [];
      this.input = block.find(({ id }) => id === this.target.call)?.input ?? this.input;
    }
    if (record.type === 'session.rewound') {
      const { seq, to, ts } = record;
      this.fates.push({ seq, rewoundAt: to < this.target.seq ? ts : this.rewoundAt(to) });
    }
    if ('call' in record && record.call === this.target.call) this.takeOwn(record);
  }

  /** Returns the state at record `seq`, which a rewind to that record restores. */
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
      input: shortenMiddle(redact(JSON.stringify(this.input) ?? '{}'), MAX_INPUT_LENGTH),
      outcome: outcome ?? (this.target.startedAt === null ? 'not started' : 'no end'),
      durationMs: this.ended?.durationMs ?? null,
      result:
        this.ended === undefined
          ? null
          : shortenMiddle(redact(resultText(this.ended.raw)), MAX_RESULT_LENGTH),
      steps: stepsOf(rulings, outcome),
      rulings,
      questions: [...this.questions.values()].map(({ question }) => question),
      hooks: this.hooks,
      orders: this.orders,
      files: callEdits(this.calls, this.target, this.changes),
      isUnwatched,
      ...this.mentions.found(),
      rewoundAt: this.fates.at(-1)?.rewoundAt ?? null,
    };
  }

  private takeOwn(record: JournalRecord): void {
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
        const { event, hook, outcome, durationMs, detail, exitCode } = record;
        const text = shortenMiddle(redact(detail), MAX_RESULT_LENGTH);
        const exit = exitCode !== undefined && { exitCode };
        this.hooks.push({ event, hook: redact(hook), outcome, durationMs, detail: text, ...exit });
        break;
      }
      case 'orders.found':
        this.orders = record.kinds;
        break;
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

  /** The ruling after a question decides it, even if the journal does not record who answered. */
  private settle(ts: number, surface: string | undefined): void {
    for (const { askedAt, question } of this.questions.values()) {
      if (question.waitedMs !== null) continue;
      question.waitedMs = ts - askedAt;
      if (surface !== undefined)
        question.answers.push({ surface, outcome: 'accepted', detail: '' });
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

/** Returns the index of the step that a ruling reached. An allowing hook takes effect after the allow rules. */
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
  const lastStep = decided.get('ask') === 'asked' ? PIPELINE_STEPS.indexOf('ask') : last;
  // A call that must be asked about skips to the callback.
  const isSkipped = (index: number) => index > lastStep;
  return PIPELINE_STEPS.map((step, index) => ({
    step,
    fate:
      decided.get(step) ??
      (index >= last ? 'not reached' : isSkipped(index) ? 'skipped' : 'passed'),
  }));
};

/** Keeps the beginning and the end, because errors are often at the end. */
const shortenMiddle = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text;
  const half = Math.floor(maxLength / 2);
  const left = text.length - 2 * half;
  const [head, tail] = [text.slice(0, half), text.slice(-half)].map((part) => part.toWellFormed());
  return `${head}\n… ${left} characters left out …\n${tail}`;
};
