/** Puts one question to all who may answer it: the first answer that counts wins (law 6). */
import { checkAnswer, REFUSAL_WORDS } from '../../policy/answers/answer-check.js';
import type { AgentTag } from '../../protocol/agent/swarm.js';
import type { Clock } from '../../protocol/clock.js';
import {
  type AnswerHeard,
  type Decision,
  type KnownSurface,
  QuestionClosed,
  type SurfaceKey,
} from '../../protocol/permission/answer.js';
import type {
  Asker,
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
  Ruling,
} from '../../protocol/permission/permission.js';
import { inputDigest } from './input-digest.js';
import type { ValidCall } from './judge-call.js';

/** The answer is bound to the digest of the exact input. */
export const questionAbout = (
  { tool, input, request }: ValidCall,
  { reason, risk, blockedPath }: Ruling,
  identity: Pick<
    PermissionQuestion,
    'id' | 'agent' | 'call' | 'grant' | 'isAlwaysAsked' | 'askers'
  >,
): PermissionQuestion => ({
  ...identity,
  tool: tool.name,
  input,
  inputDigest: inputDigest(input),
  description: tool.describe(input),
  reason,
  risk,
  cwd: request.cwd,
  ...(blockedPath !== undefined && { blockedPath }),
});

export const askerOf = ({ id, type, name, description }: AgentTag): Asker => ({
  agent: id,
  type,
  name: name ?? null,
  task: description,
});

export interface QuestionTerms {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

export interface AnswerRules extends QuestionTerms {
  /** Whose policy may answer in a person's place. */
  readonly parent?: string | undefined;
  /** Told of everything that came back, also of what comes when the question is long decided. */
  readonly heard?: (heard: AnswerHeard) => void;
}

/**
 * Rejects only with what `heard` throws. All are asked at once; whoever has not answered when one has is told that the
 * question is withdrawn, and what they still say is refused. When all have failed the call is denied.
 */
export const askSurfaces = (
  surfaces: readonly KnownSurface[],
  question: PermissionQuestion,
  terms: AnswerRules,
): Promise<Decision> => new OpenQuestion(surfaces, question, terms).decision;

type Closed = 'already-answered' | 'withdrawn' | 'out-of-time';

class OpenQuestion {
  readonly decision: Promise<Decision>;
  private readonly question: PermissionQuestion;
  private readonly terms: AnswerRules;
  private readonly keys: readonly SurfaceKey[];
  private readonly askedAt: number;
  /** Aborts as soon as the question is decided, whatever decided it. */
  private readonly over = new AbortController();
  private closed: Closed | undefined;
  private waitsFor: number;
  /** Those that are asked beside others do not count. */
  private readonly waitsForOthers: boolean;
  private decide: (decision: Decision) => void = () => {};

  constructor(surfaces: readonly KnownSurface[], question: PermissionQuestion, terms: AnswerRules) {
    this.question = question;
    this.terms = terms;
    this.keys = surfaces.flatMap((surface) => [surface, ...(surface.handsOn ?? [])]);
    this.askedAt = terms.clock.now();
    const others = surfaces.filter(({ isBeside }) => isBeside !== true);
    this.waitsForOthers = others.length > 0;
    this.waitsFor = this.waitsForOthers ? others.length : surfaces.length;
    this.decision = new Promise((resolve, reject) => {
      this.decide = resolve;
      this.watchTheEnd();
      if (surfaces.length === 0) this.fail('Nobody is there to ask.');
      if (this.closed !== undefined) return;
      for (const surface of surfaces) this.askOne(surface).catch(reject);
    });
  }

  private watchTheEnd(): void {
    const { signal, clock, timeoutMs } = this.terms;
    const withdraw = () => this.close('withdrawn', decidedElsewhere(signal) ?? WITHDRAWN);
    const forget = clock.wakeAt(this.expiresAt, () => this.close('out-of-time', nobody(timeoutMs)));
    signal.addEventListener('abort', withdraw, { once: true });
    this.over.signal.addEventListener('abort', () => {
      forget();
      signal.removeEventListener('abort', withdraw);
    });
    if (signal.aborted) withdraw();
  }

  private get expiresAt(): number {
    return this.askedAt + this.terms.timeoutMs;
  }

  private async askOne(surface: KnownSurface): Promise<void> {
    let given: unknown;
    try {
      given = await surface.ask(this.question, this.over.signal);
    } catch (error) {
      // That a question was withdrawn is no failure of whoever was asked.
      if (this.closed !== undefined) return;
      const why = error instanceof Error ? error.message : String(error);
      this.terms.heard?.({ surface: surface.id, outcome: 'failed', detail: why });
      this.fail(why, surface);
      return;
    }
    this.take(given, surface);
  }

  private take(given: unknown, from: KnownSurface): void {
    const { id, agent, call, input } = this.question;
    const checked = checkAnswer(given, {
      question: id,
      agent,
      call,
      inputDigest: inputDigest(input),
      keys: this.keys,
      parent: this.terms.parent,
      closed: this.closed,
      askedAt: this.askedAt,
      expiresAt: this.expiresAt,
    });
    if ('refusal' in checked) {
      const { refusal, surface = from.id } = checked;
      const detail = `The answer does not count: ${REFUSAL_WORDS[refusal]}.`;
      this.terms.heard?.({ surface, outcome: 'refused', refusal, detail });
      this.fail(detail, from);
      return;
    }
    const signed = checked.answer;
    const { answer, surface } = signed;
    const detail = answer.behavior === 'deny' ? answer.reason : (answer.scope ?? 'once');
    this.terms.heard?.({ surface, outcome: 'accepted', detail });
    this.close('already-answered', { ...answer, by: surface, signed });
  }

  /** One of them will not answer any more; the others still may. */
  private fail(why: string, surface?: KnownSurface): void {
    if (surface?.isBeside === true && this.waitsForOthers) return;
    this.waitsFor -= 1;
    if (this.waitsFor > 0) return;
    this.close('withdrawn', {
      behavior: 'deny',
      reason: `The question could not be answered: ${why}`,
    });
  }

  private close(closed: Closed, decision: Decision): void {
    if (this.closed !== undefined) return;
    this.closed = closed;
    this.decide(decision);
    this.over.abort(new QuestionClosed(decision));
  }
}

/** What came of a question to a person: an answer, or why there is none. The first to answer wins. */
export const askPerson = async (
  choosers: readonly ((signal: AbortSignal) => Promise<PersonAnswer>)[],
  { signal, clock, timeoutMs }: QuestionTerms,
): Promise<PersonAnswer | { readonly silence: string }> => {
  const over = new AbortController();
  let end: (silence: string) => void = () => {};
  const silence = new Promise<{ readonly silence: string }>((resolve) => {
    end = (why) => resolve({ silence: why });
  });
  const withdraw = () => end('The question was withdrawn before anybody answered.');
  signal.addEventListener('abort', withdraw, { once: true });
  const forget = clock.wakeAt(clock.now() + timeoutMs, () =>
    end(`Nobody answered within ${timeoutMs / 1000} seconds.`),
  );
  try {
    const answer = Promise.any(choosers.map(async (choose) => choose(over.signal)));
    return await Promise.race([answer, silence]);
  } catch (error) {
    return { silence: `There is no answer: ${whyNone(error)}` };
  } finally {
    forget();
    signal.removeEventListener('abort', withdraw);
    over.abort();
  }
};

const whyNone = (error: unknown): string => {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
};

/** Whoever withdrew the question may know what came of it. */
const decidedElsewhere = (signal: AbortSignal): Decision | undefined => {
  const { reason } = signal as { readonly reason: unknown };
  return reason instanceof QuestionClosed ? reason.decision : undefined;
};

const WITHDRAWN: PermissionAnswer = {
  behavior: 'deny',
  reason: 'The call was interrupted before anybody answered.',
};

const nobody = (timeoutMs: number): PermissionAnswer => ({
  behavior: 'deny',
  reason: `Nobody answered within ${timeoutMs / 1000} seconds, so the call was not run.`,
});
