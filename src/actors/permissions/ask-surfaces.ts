/** Asks a permission question on all surfaces; the first valid answer wins (law 6). */
import { ANSWER_REFUSAL_TEXT, checkAnswer } from '../../policy/answers/check-answer.js';
import type { AgentTag } from '../../protocol/agent/agent-tag.js';
import type { Clock } from '../../protocol/clock.js';
import type {
  Asker,
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
} from '../../protocol/permission/permission-question.js';
import type { Ruling } from '../../protocol/permission/ruling.js';
import {
  type Decision,
  type KnownSurface,
  QuestionClosed,
  type SurfaceKey,
  type SurfaceOutcome,
} from '../../protocol/permission/signed-answer.js';
import { inputDigest } from './input-digest.js';
import type { ValidCall } from './judge-call.js';

/** Builds the question about a call. The answer is bound to the digest of the exact input. */
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

interface QuestionOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

interface AskOptions extends QuestionOptions {
  /** Id of the parent agent. Its policy may answer instead of a person. */
  readonly parent?: string | undefined;
  /** Called for each answer or failure of a surface, also after the question is decided. */
  readonly onAnswer?: (outcome: SurfaceOutcome) => void;
}

/**
 * Asks all surfaces at once; the first valid answer wins. The other surfaces withdraw the
 * question, and their later answers are refused. Denies the call if all surfaces fail.
 * Rejects only with an error that `onAnswer` throws.
 */
export const askSurfaces = (
  surfaces: readonly KnownSurface[],
  question: PermissionQuestion,
  options: AskOptions,
): Promise<Decision> => new SurfaceRace(surfaces, question, options).decision;

type Closed = 'already-answered' | 'withdrawn' | 'out-of-time';

class SurfaceRace {
  readonly decision: Promise<Decision>;
  private readonly question: PermissionQuestion;
  private readonly options: AskOptions;
  private readonly keys: readonly SurfaceKey[];
  private readonly askedAt: number;
  /** Aborts as soon as the question is decided, for any reason. */
  private readonly over = new AbortController();
  private closed: Closed | undefined;
  private remaining: number;
  /** True if any surface is not optional: then failures of optional surfaces do not count. */
  private readonly hasRequired: boolean;
  private decide: (decision: Decision) => void = () => {};

  constructor(
    surfaces: readonly KnownSurface[],
    question: PermissionQuestion,
    options: AskOptions,
  ) {
    this.question = question;
    this.options = options;
    this.keys = surfaces.flatMap((surface) => [surface, ...(surface.forwardableKeys ?? [])]);
    this.askedAt = options.clock.now();
    const required = surfaces.filter(({ isOptional }) => isOptional !== true);
    this.hasRequired = required.length > 0;
    this.remaining = this.hasRequired ? required.length : surfaces.length;
    this.decision = new Promise((resolve, reject) => {
      this.decide = resolve;
      this.watchForEnd();
      if (surfaces.length === 0) this.fail('No person or program can answer.');
      if (this.closed !== undefined) return;
      for (const surface of surfaces) this.askOne(surface).catch(reject);
    });
  }

  private watchForEnd(): void {
    const { signal, clock, timeoutMs } = this.options;
    const withdraw = () => this.close('withdrawn', decidedElsewhere(signal) ?? WITHDRAWN);
    const cancelTimer = clock.wakeAt(this.expiresAt, () =>
      this.close('out-of-time', timeoutDenial(timeoutMs)),
    );
    signal.addEventListener('abort', withdraw, { once: true });
    this.over.signal.addEventListener('abort', () => {
      cancelTimer();
      signal.removeEventListener('abort', withdraw);
    });
    if (signal.aborted) withdraw();
  }

  private get expiresAt(): number {
    return this.askedAt + this.options.timeoutMs;
  }

  private async askOne(surface: KnownSurface): Promise<void> {
    let received: unknown;
    try {
      received = await surface.ask(this.question, this.over.signal);
    } catch (error) {
      // The question was withdrawn, so the rejection is not a failure of the surface.
      if (this.closed !== undefined) return;
      const why = error instanceof Error ? error.message : String(error);
      this.options.onAnswer?.({ surface: surface.id, outcome: 'failed', detail: why });
      this.fail(why, surface);
      return;
    }
    this.receive(received, surface);
  }

  private receive(received: unknown, from: KnownSurface): void {
    const { id, agent, call, input } = this.question;
    const checked = checkAnswer(received, {
      question: id,
      agent,
      call,
      inputDigest: inputDigest(input),
      keys: this.keys,
      parent: this.options.parent,
      closed: this.closed,
      askedAt: this.askedAt,
      expiresAt: this.expiresAt,
    });
    if ('refusal' in checked) {
      const { refusal, surface = from.id } = checked;
      const detail = `The answer does not count: ${ANSWER_REFUSAL_TEXT[refusal]}.`;
      this.options.onAnswer?.({ surface, outcome: 'refused', refusal, detail });
      this.fail(detail, from);
      return;
    }
    const signed = checked.answer;
    const { answer, surface } = signed;
    const detail = answer.behavior === 'deny' ? answer.reason : (answer.scope ?? 'once');
    this.options.onAnswer?.({ surface, outcome: 'accepted', detail });
    this.close('already-answered', { ...answer, by: surface, signed });
  }

  /** Counts a surface that will not answer. Denies the call if no other surface is left. */
  private fail(why: string, surface?: KnownSurface): void {
    if (surface?.isOptional === true && this.hasRequired) return;
    this.remaining -= 1;
    if (this.remaining > 0) return;
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

/**
 * Asks several people at once and returns the first answer, or the reason why there is none. Never
 * rejects.
 */
export const askPerson = async (
  choosers: readonly ((signal: AbortSignal) => Promise<PersonAnswer>)[],
  { signal, clock, timeoutMs }: QuestionOptions,
): Promise<PersonAnswer | { readonly silence: string }> => {
  const over = new AbortController();
  let end: (silence: string) => void = () => {};
  const silence = new Promise<{ readonly silence: string }>((resolve) => {
    end = (why) => resolve({ silence: why });
  });
  const withdraw = () => end('The question was withdrawn before an answer came.');
  signal.addEventListener('abort', withdraw, { once: true });
  const cancelTimer = clock.wakeAt(clock.now() + timeoutMs, () =>
    end(`No answer came within ${timeoutMs / 1000} seconds.`),
  );
  try {
    const answer = Promise.any(choosers.map(async (choose) => choose(over.signal)));
    return await Promise.race([answer, silence]);
  } catch (error) {
    return { silence: `There is no answer: ${firstErrorMessage(error)}` };
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', withdraw);
    over.abort();
  }
};

const firstErrorMessage = (error: unknown): string => {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
};

/** Returns the decision that the abort reason carries, if the question was decided elsewhere. */
const decidedElsewhere = (signal: AbortSignal): Decision | undefined => {
  const { reason } = signal as { readonly reason: unknown };
  return reason instanceof QuestionClosed ? reason.decision : undefined;
};

const WITHDRAWN: PermissionAnswer = {
  behavior: 'deny',
  reason: 'The call was interrupted before an answer came.',
};

const timeoutDenial = (timeoutMs: number): PermissionAnswer => ({
  behavior: 'deny',
  reason: `No answer came within ${timeoutMs / 1000} seconds, so the call was not run.`,
});
