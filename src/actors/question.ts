/** Puts one question to a surface, and answers it itself when nobody does in time. */
import { createHash } from 'node:crypto';
import type { Clock } from '../protocol/clock.js';
import type {
  PermissionAnswer,
  PermissionQuestion,
  Ruling,
  Surface,
} from '../protocol/permission.js';
import type { SoundCall } from './judge.js';

/** The answer is bound to the digest of the exact input. */
export const questionAbout = (
  { tool, input }: SoundCall,
  { reason }: Ruling,
  identity: Pick<PermissionQuestion, 'id' | 'agent' | 'call'>,
): PermissionQuestion => ({
  ...identity,
  tool: tool.name,
  input,
  inputDigest: digestOf(input),
  description: tool.describe(input),
  reason,
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
  { signal, clock, timeoutMs }: QuestionTerms,
): Promise<PermissionAnswer> => {
  const withdrawn = new AbortController();
  let forget: (() => void) | undefined;
  let withdraw = () => {};
  const moot = new Promise<PermissionAnswer>((resolve) => {
    withdraw = () => {
      withdrawn.abort();
      resolve(WITHDRAWN);
    };
  });
  signal.addEventListener('abort', withdraw, { once: true });
  const late = new Promise<PermissionAnswer>((resolve) => {
    forget = clock.wakeAt(clock.now() + timeoutMs, () => resolve(nobody(timeoutMs)));
  });
  try {
    return await Promise.race([surface.ask(question, withdrawn.signal), late, moot]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { behavior: 'deny', reason: `The question could not be answered: ${why}` };
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
