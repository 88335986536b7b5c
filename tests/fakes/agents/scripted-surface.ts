/** Surface that a test scripts. */
import { onTestFinished } from 'vitest';
import type {
  PermissionAnswer,
  PermissionQuestion,
  Surface,
} from '../../../src/protocol/permission/permission-question.js';

/** Reply of the surface. `silence` never answers, not even when the question is withdrawn. */
export type ScriptedReply = PermissionAnswer | Error | 'silence' | Promise<PermissionAnswer>;

export interface ScriptedSurface extends Surface {
  readonly questions: readonly PermissionQuestion[];
  /** Ids of withdrawn questions. */
  readonly withdrawn: readonly string[];
}

export const allows: PermissionAnswer = { behavior: 'allow' };
export const denies = (reason = 'Not this.'): PermissionAnswer => ({ behavior: 'deny', reason });

/**
 * Surface that answers from a list, in order. An unexpected question or an unused answer fails the
 * test.
 */
export const scriptedSurface = (...replies: readonly ScriptedReply[]): ScriptedSurface => {
  const questions: PermissionQuestion[] = [];
  const withdrawn: string[] = [];
  onTestFinished(() => {
    const unused = replies.length - questions.length;
    if (unused !== 0) throw new Error(`scriptedSurface: ${unused} replies left over`);
  });
  return {
    questions,
    withdrawn,
    async ask(question, signal) {
      questions.push(question);
      signal.addEventListener('abort', () => withdrawn.push(question.id));
      const reply = replies[questions.length - 1];
      if (reply === undefined) throw new Error(`scriptedSurface: no reply for ${question.tool}`);
      if (reply === 'silence') return new Promise(() => {});
      if (reply instanceof Error) throw reply;
      return reply;
    },
  };
};
