/** Puts one question to a surface, and answers it itself when nobody does in time. */
import { createHash } from 'node:crypto';
import type { Clock } from '../protocol/clock.js';
import type {
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
  Ruling,
  Surface,
} from '../protocol/permission.js';
import type { SoundCall } from './judge.js';

/** The answer is bound to the digest of the exact input. */
export const questionAbout = (
  { tool, input }: SoundCall,
  { reason, risk, blockedPath }: Ruling,
  identity: Pick<PermissionQuestion, 'id' | 'agent' | 'call' | 'grant'>,
): PermissionQuestion => ({
  ...identity,
  tool: tool.name,
  input,
  inputDigest: digestOf(input),
  description: tool.describe(input),
  ...{ reason, risk },
  ...(blockedPath !== undefined && { blockedPath }),
});

export const digestOf = (input: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(input) ?? '')
    .digest('hex')
    .slice(0, 16);

export interface QuestionTerms {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Never rejects: a surface that fails has denied. */
export const askSurface = async (
  surface: Surface,
  question: PermissionQuestion,
  terms: QuestionTerms,
): Promise<PermissionAnswer> => {
  try {
    return await underTerms((signal) => surface.ask(question, signal), terms, {
      withdrawn: WITHDRAWN,
      late: nobody(terms.timeoutMs),
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { behavior: 'deny', reason: `The question could not be answered: ${why}` };
  }
};

/** What came of a question to a person: an answer, or why there is none. */
export const askPerson = async (
  choose: (signal: AbortSignal) => Promise<PersonAnswer>,
  terms: QuestionTerms,
): Promise<PersonAnswer | { readonly silence: string }> => {
  try {
    return await underTerms<PersonAnswer | { silence: string }>(choose, terms, {
      withdrawn: { silence: 'The question was withdrawn before anybody answered.' },
      late: { silence: `Nobody answered within ${terms.timeoutMs / 1000} seconds.` },
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { silence: `There is no answer: ${why}` };
  }
};

/** Rejects as `ask` does. Whatever ends the wait, the question is withdrawn. */
const underTerms = async <Answer>(
  ask: (signal: AbortSignal) => Promise<Answer>,
  { signal, clock, timeoutMs }: QuestionTerms,
  otherwise: { readonly withdrawn: Answer; readonly late: Answer },
): Promise<Answer> => {
  const withdrawn = new AbortController();
  let forget: (() => void) | undefined;
  let withdraw = () => {};
  const moot = new Promise<Answer>((resolve) => {
    withdraw = () => {
      withdrawn.abort();
      resolve(otherwise.withdrawn);
    };
  });
  signal.addEventListener('abort', withdraw, { once: true });
  const late = new Promise<Answer>((resolve) => {
    forget = clock.wakeAt(clock.now() + timeoutMs, () => resolve(otherwise.late));
  });
  try {
    return await Promise.race([ask(withdrawn.signal), late, moot]);
  } finally {
    forget?.();
    signal.removeEventListener('abort', withdraw);
    withdrawn.abort();
  }
};

const WITHDRAWN: PermissionAnswer = {
  behavior: 'deny',
  reason: 'The call was interrupted before anybody answered.',
};

const nobody = (timeoutMs: number): PermissionAnswer => ({
  behavior: 'deny',
  reason: `Nobody answered within ${timeoutMs / 1000} seconds, so the call was not run.`,
});
