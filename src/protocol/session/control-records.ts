/** What a journal says of the control plane: rulings, hooks that ran, questions and all that was answered. */
import { z } from 'zod';
import { ANSWER_OUTCOMES, ANSWER_REFUSALS } from '../permission/answer.js';
import { HOOK_EVENTS, HOOK_OUTCOMES } from '../permission/hooks.js';

/** Which attempt of which turn a record belongs to. */
export const attempt = { turn: z.number().int(), attempt: z.number().int() };

export const callRuled = z.object({
  type: z.literal('call.ruled'),
  ...attempt,
  call: z.string(),
  tool: z.string(),
  behavior: z.enum(['allow', 'deny', 'ask']),
  step: z.string(),
  reason: z.string(),
  rule: z.string().optional(),
  source: z.string().optional(),
  file: z.string().optional(),
  line: z.number().int().optional(),
  /** What would have led to another ruling; older journals do not say. */
  instead: z.string().optional(),
  /** The hook that decided. */
  hook: z.string().optional(),
  /** Who answered, where somebody was asked. */
  by: z.string().optional(),
  /** The rule that the answer allows for the rest of the session. */
  granted: z.string().optional(),
});

export const hookRan = z.object({
  type: z.literal('hook.ran'),
  event: z.enum(HOOK_EVENTS),
  hook: z.string(),
  outcome: z.enum(HOOK_OUTCOMES),
  durationMs: z.number(),
  detail: z.string(),
  /** The tool call that it was about. */
  call: z.string().optional(),
});

export const questionAsked = z.object({
  type: z.literal('question.asked'),
  ...attempt,
  question: z.string(),
  call: z.string(),
  tool: z.string(),
  inputDigest: z.string(),
  description: z.string(),
  reason: z.string(),
});

/** One for each surface at most: an answer that counts, one that does not, or a surface that failed. */
export const questionAnswered = z.object({
  type: z.literal('question.answered'),
  ...attempt,
  question: z.string(),
  call: z.string(),
  surface: z.string(),
  outcome: z.enum(ANSWER_OUTCOMES),
  /** Why it does not count. */
  refusal: z.enum(ANSWER_REFUSALS).optional(),
  detail: z.string(),
});
