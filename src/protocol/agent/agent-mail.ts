/** Mail between processes about agents. The address is the id of an agent. */
import { z } from 'zod';
import { letterText } from './letter-text.js';
import { STOP_REASONS } from './stop.js';

export const agentMail = z.discriminatedUnion('type', [
  /** To a parent: its child `agent` has ended a run. The result is in the child's journal. */
  z.object({ type: z.literal('ended'), agent: z.string(), run: z.int().min(0) }),
  /** To an agent: journal this letter. The lead forwards a letter whose `to` is another agent. */
  z.object({
    type: z.literal('letter'),
    to: z.string().exactOptional(),
    letter: z.string(),
    from: z.string(),
    raw: letterText,
    trace: z.string().exactOptional(),
  }),
  /** To an agent: stop, with all descendants. */
  z.object({
    type: z.literal('stop'),
    /** `at` of the job to stop. A job that was handed over later continues. Default: any job. */
    at: z.int().exactOptional(),
    reason: z.enum(STOP_REASONS),
    detail: z.string().nullable(),
  }),
]);
export type AgentMail = z.infer<typeof agentMail>;
