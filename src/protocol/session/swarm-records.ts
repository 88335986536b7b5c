/** Journal records about sub-agents: spawning, queueing, letters, worktrees, forks and budgets. */
import { z } from 'zod';
import { CHILD_KINDS } from '../agent/agent-tag.js';
import { WAIT_REASONS } from '../model/governor.js';
import { PERMISSION_MODES } from '../permission/permission-mode.js';
import { cloneLocation, settlement, worktreeLocation } from '../tools/worktrees.js';
import { attemptFields } from './control-records.js';

/** Origin and rights of a sub-agent. Later changes of its definition have no effect on it. */
export const agentOrigin = z.object({
  kind: z.enum(CHILD_KINDS),
  /** Name of the agent's definition. Null: a fork. */
  type: z.string().nullable(),
  name: z.string().optional(),
  /** Team name. Teammates only. */
  team: z.string().optional(),
  description: z.string(),
  /** Id of the parent's call that spawned the agent. */
  call: z.string(),
  depth: z.number().int(),
  color: z.string().optional(),
  /** Forks only: agent whose records up to `seq` the fork starts with. */
  inherits: z.object({ agent: z.string(), seq: z.number().int() }).optional(),
  /** Names of allowed tools. Default: the tools of the parent. */
  tools: z.array(z.string()).optional(),
  /** Rules. A tool named by a limit may only make calls that a limit allows. */
  limits: z.array(z.string()).optional(),
  /** Rules. Matching calls are denied even if another rule allows them. */
  denials: z.array(z.string()).optional(),
  /** Permission mode. Default: questions go to the parent. */
  mode: z.enum(PERMISSION_MODES).optional(),
  maxTurns: z.number().int().optional(),
  /** Budget of the agent and its descendants, in USD. */
  maxBudgetUsd: z.number().optional(),
  /** Budget of the agent and its descendants, in tokens. */
  maxBudgetTokens: z.number().optional(),
  /** True if the agent has its own prompt and tool list. Default: the lead's. */
  ownPrompt: z.boolean().optional(),
  /** Only if the agent has its own worktree. */
  worktree: worktreeLocation.optional(),
});
export type AgentOrigin = z.infer<typeof agentOrigin>;

export const SWARM_RECORDS = [
  z.object({
    /** In the parent's journal, before the child has one. A resumed call finds its child here. */
    type: z.literal('agent.requested'),
    call: z.string(),
    child: z.string(),
    kind: z.enum(CHILD_KINDS),
    /** Name of the child's definition. Null: a fork. */
    agentType: z.string().nullable(),
    description: z.string(),
  }),
  z.object({
    /** In the child's journal: the child waits for a slot or a worker. */
    type: z.literal('agent.queued'),
    reason: z.string(),
    /** Worker that took the agent and could not run it. */
    worker: z.string().optional(),
    /** Default: `place`, a concurrency slot. */
    awaits: z.enum(['place', 'worker']).optional(),
  }),
  z.object({
    /** The agent crashed because of a defect. It restarts from here after `delayMs`. */
    type: z.literal('agent.restarted'),
    reason: z.string(),
    /** Number of restarts within the time window of the agent's kind. */
    attempt: z.number().int(),
    delayMs: z.number(),
  }),
  z.object({
    /** In the sender's journal, before a message to another agent is sent. */
    type: z.literal('letter.sent'),
    letter: z.string(),
    to: z.string(),
    call: z.string(),
    /** A message kind, such as `message` or `shutdown_request`. */
    kind: z.string(),
  }),
  z.object({
    /** In the sender's journal: the letter was not delivered, and the sender was notified. */
    type: z.literal('letter.undelivered'),
    letter: z.string(),
    to: z.string(),
    reason: z.string(),
  }),
  z.object({
    /** An agent in plan mode may carry out its plan. */
    type: z.literal('plan.approved'),
    /** Approver of the plan. */
    by: z.string(),
  }),
  z.object({
    /** A machine without the lead's workspace took the agent, which works in this clone from here on. */
    type: z.literal('agent.moved'),
    to: cloneLocation,
  }),
  z.object({
    /** Outcome of the work in the worktree of an agent that has ended or is idle. */
    type: z.literal('worktree.settled'),
    outcome: settlement,
    /** Path of the work as a patch. */
    diff: z.string().optional(),
  }),
  z.object({
    /** The agent waits for another agent's lock on the same working tree. */
    type: z.literal('lock.awaited'),
    /** Absolute path of the tree. */
    place: z.string(),
    /** Agent that holds the lock. Null if unknown. */
    holder: z.string().nullable(),
    /** In the parent's journal: the waiting child, which has no journal yet. */
    child: z.string().optional(),
  }),
  z.object({
    /** Placeholder results of the newest message, shared by all its forks. */
    type: z.literal('fork.offered'),
    /** An array of tool_result blocks. */
    raw: z.string(),
  }),
  z.object({
    /** A request is ready and waits. Not written if a request need not wait. */
    type: z.literal('request.queued'),
    /** `turn`, or the purpose of a side request. */
    purpose: z.string(),
    /** Id of the call that needs it. Null if the agent itself needs it. */
    call: z.string().nullable(),
    why: z.enum(WAIT_REASONS),
  }),
  z.object({
    /** Budget reserved before a request. Not written if there is no limit (law 10). */
    type: z.literal('budget.reserved'),
    ...attemptFields,
    /** USD. `left` is the rest of the pool. Left out if money has no limit. */
    usd: z.number().optional(),
    left: z.number().optional(),
    /** Tokens. `tokensLeft` is the rest of the pool. Left out if tokens have no limit. */
    tokens: z.number().optional(),
    tokensLeft: z.number().optional(),
  }),
  z.object({
    /** The store had acknowledged records after the previous record of this journal and has lost them. */
    type: z.literal('records.lost'),
    /** Number of lost records that a process knew of. Further records may be lost. */
    lost: z.number().int(),
    /** Lost calls with effects. They may have run. */
    calls: z.array(z.object({ call: z.string(), tool: z.string(), description: z.string() })),
    /** Text for the agent, which it reads with its next message. */
    notice: z.object({ letter: z.string(), text: z.string() }),
  }),
] as const;
