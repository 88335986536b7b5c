/** Journal records of the control plane: rulings, hook runs, questions and answers. */
import { z } from 'zod';
import { HOOK_EVENTS, HOOK_OUTCOMES } from '../permission/hooks.js';
import { ANSWER_OUTCOMES, ANSWER_REFUSALS } from '../permission/signed-answer.js';

/** Turn and attempt that a record belongs to. */
export const attemptFields = { turn: z.number().int(), attempt: z.number().int() };

const callRuled = z.object({
  type: z.literal('call.ruled'),
  ...attemptFields,
  call: z.string(),
  tool: z.string(),
  behavior: z.enum(['allow', 'deny', 'ask']),
  step: z.string(),
  reason: z.string(),
  rule: z.string().optional(),
  source: z.string().optional(),
  file: z.string().optional(),
  line: z.number().int().optional(),
  /** The change that would lead to another ruling. Missing in older journals. */
  instead: z.string().optional(),
  /** The hook that decided. */
  hook: z.string().optional(),
  /** Surface that answered, if a question was asked. */
  by: z.string().optional(),
  /** Rule that the answer added for the rest of the session. */
  granted: z.string().optional(),
});

const hookRan = z.object({
  type: z.literal('hook.ran'),
  event: z.enum(HOOK_EVENTS),
  hook: z.string(),
  outcome: z.enum(HOOK_OUTCOMES),
  durationMs: z.number(),
  detail: z.string(),
  /** Id of the tool call. */
  call: z.string().optional(),
  /** Left out for a function, for a command that did not exit by itself, and in older journals. */
  exitCode: z.number().int().optional(),
});

/** A failed attempt is repeated after a delay of `durationMs`. */
const retryScheduled = z.object({
  type: z.literal('retry.scheduled'),
  /** Number of the attempt that follows, and the maximum number of attempts. */
  attempt: z.number().int(),
  attempts: z.number().int(),
  durationMs: z.number(),
});

const questionAsked = z.object({
  type: z.literal('question.asked'),
  ...attemptFields,
  question: z.string(),
  call: z.string(),
  tool: z.string(),
  inputDigest: z.string(),
  description: z.string(),
  reason: z.string(),
});

/** Accepted answer, rejected answer, or failure of one surface. At most one record per surface. */
const questionAnswered = z.object({
  type: z.literal('question.answered'),
  ...attemptFields,
  question: z.string(),
  call: z.string(),
  surface: z.string(),
  outcome: z.enum(ANSWER_OUTCOMES),
  /** Why the answer was rejected. */
  refusal: z.enum(ANSWER_REFUSALS).optional(),
  detail: z.string(),
});

/** Text from outside that gives orders to its reader. The model gets a warning beside the text. */
const ordersFound = z.object({
  type: z.literal('orders.found'),
  /** Tool that returned the text, or id of the agent that wrote it. */
  from: z.string(),
  kinds: z.array(z.string()),
  /** Id of the tool call, for a result. */
  call: z.string().optional(),
  /** Id of the letter, for a report or a message of an agent. */
  letter: z.string().optional(),
});

export const controlRecords = {
  callRuled,
  hookRan,
  retryScheduled,
  questionAsked,
  questionAnswered,
  ordersFound,
};
