/** What processes write to each other about agents that one of them works on, at the address of an agent. */
import { z } from 'zod';
import { STOP_REASONS } from './agent.js';
import { isWords } from './letter-words.js';

export const agentMail = z.discriminatedUnion('type', [
  /** To a parent: this child of it has ended a run. What came of it is in the child's journal. */
  z.object({ type: z.literal('ended'), agent: z.string(), run: z.int().min(0) }),
  /** To an agent: it is to be journaled as a letter. The lead passes on what is for another. */
  z.object({
    type: z.literal('letter'),
    to: z.string().exactOptional(),
    letter: z.string(),
    from: z.string(),
    raw: z.string().refine(isWords, 'What it says is not made of words, as letters are.'),
    trace: z.string().exactOptional(),
  }),
  /** To an agent: it ends, with all below it. */
  z.object({
    type: z.literal('stop'),
    /** The job that is meant: one that was handed over since goes on. */
    at: z.int().exactOptional(),
    reason: z.enum(STOP_REASONS),
    detail: z.string().nullable(),
  }),
]);
export type AgentMail = z.infer<typeof agentMail>;
