/** Journal records of a swarm: who was asked for, where an agent comes from, and what forks share. */
import { z } from 'zod';
import { CHILD_KINDS } from '../agent/swarm.js';
import { WAIT_REASONS } from '../model/queueing.js';
import { PERMISSION_MODES } from '../permission/permission.js';
import { clonedPlace, settlement, worktreePlace } from '../tools/worktree.js';
import { attempt } from './control-records.js';

/** Of an agent that works for another. What it may do is fixed here, whatever its file says later. */
export const origin = z.object({
  kind: z.enum(CHILD_KINDS),
  /** Its definition; null is a fork. */
  type: z.string().nullable(),
  name: z.string().optional(),
  /** Of a teammate. */
  team: z.string().optional(),
  description: z.string(),
  /** The call of its parent that asked for it. */
  call: z.string(),
  depth: z.number().int(),
  color: z.string().optional(),
  /** A fork begins with what this agent had on record up to here. */
  inherits: z.object({ agent: z.string(), seq: z.number().int() }).optional(),
  /** Names of the tools that it may use; left out, those of its parent. */
  tools: z.array(z.string()).optional(),
  /** Rules: of a tool that one of them names, only calls that one allows. */
  limits: z.array(z.string()).optional(),
  /** Rules: calls that are denied, whatever else allows them. */
  denials: z.array(z.string()).optional(),
  /** Left out, its questions go to its parent. */
  mode: z.enum(PERMISSION_MODES).optional(),
  maxTurns: z.number().int().optional(),
  /** For it and all that work for it. */
  maxBudgetUsd: z.number().optional(),
  maxBudgetTokens: z.number().optional(),
  /** Left out, it shares the prompt and the tool list of the lead. */
  ownPrompt: z.boolean().optional(),
  /** Where it works, of one that has a working tree of its own. */
  worktree: worktreePlace.optional(),
});
export type Origin = z.infer<typeof origin>;

export const SWARM_RECORDS = [
  z.object({
    /** In the parent's journal, before the child has one: a call that is taken up again finds it here. */
    type: z.literal('agent.requested'),
    call: z.string(),
    child: z.string(),
    kind: z.enum(CHILD_KINDS),
    /** Null is a fork. */
    agentType: z.string().nullable(),
    description: z.string(),
  }),
  z.object({
    /** In the child's journal: it waits for a place. */
    type: z.literal('agent.queued'),
    reason: z.string(),
    /** Whoever was given it and could not work on it. */
    worker: z.string().optional(),
    /** Left out, a place. */
    awaits: z.enum(['place', 'worker']).optional(),
  }),
  z.object({
    /** A defect of ours has ended it; it begins again from here after a while. */
    type: z.literal('agent.restarted'),
    reason: z.string(),
    /** How often by now, within the time that its kind allows. */
    attempt: z.number().int(),
    delayMs: z.number(),
  }),
  z.object({
    /** In the sender's journal, before a message to another agent leaves. */
    type: z.literal('letter.sent'),
    letter: z.string(),
    to: z.string(),
    call: z.string(),
    /** `message`, or what is asked for or answered. */
    kind: z.string(),
  }),
  z.object({
    /** In the sender's journal: it did not reach whom it was for, and its sender was told. */
    type: z.literal('letter.undelivered'),
    letter: z.string(),
    to: z.string(),
    reason: z.string(),
  }),
  z.object({
    /** An agent that could only plan may carry its plan out. */
    type: z.literal('plan.approved'),
    /** Whoever approved it. */
    by: z.string(),
  }),
  z.object({
    /** A machine without the workspace of its lead has taken it: from here on it works there. */
    type: z.literal('agent.moved'),
    to: clonedPlace,
  }),
  z.object({
    /** What became of the work in the worktree of an agent that has ended, or rests. */
    type: z.literal('worktree.settled'),
    outcome: settlement,
    /** Where the work is as a patch. */
    diff: z.string().optional(),
  }),
  z.object({
    /** Another agent is at work on the same tree, and this one waits until that is done. */
    type: z.literal('lock.awaited'),
    /** The tree, absolute. */
    place: z.string(),
    /** Whoever has it now; null when nobody knows. */
    holder: z.string().nullable(),
    /** In the parent's journal: who waits, which has none yet. */
    child: z.string().optional(),
  }),
  z.object({
    /** What the forks of the newest message read in place of its results: one for all of them. */
    type: z.literal('fork.offered'),
    /** An array of tool_result blocks. */
    raw: z.string(),
  }),
  z.object({
    /** A request could leave, and waits; those that need not wait have no such record. */
    type: z.literal('request.queued'),
    /** `turn`, or what a model is consulted for. */
    purpose: z.string(),
    /** The call that it is made for; null when the agent itself needs it. */
    call: z.string().nullable(),
    why: z.enum(WAIT_REASONS),
  }),
  z.object({
    /** Set aside before a request, where there is a limit to keep (law 10). */
    type: z.literal('budget.reserved'),
    ...attempt,
    /** USD, and what the pool had left after it; left out where money has no limit. */
    usd: z.number().optional(),
    left: z.number().optional(),
    /** The same in tokens. */
    tokens: z.number().optional(),
    tokensLeft: z.number().optional(),
  }),
] as const;
