/**
 * Hooks: programs and functions of the user's that look on, add to, or stop what agents do.
 *
 * The words on the wire (stdin and stdout of a command hook) are those that people already have
 * scripts for; inside the house a hook is heard as a HookVerdict.
 */
import type { HookOpinion, PermissionAnswer } from './permission.js';

export const HOOK_EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'UserPromptSubmit',
  'Stop',
  'SubagentStop',
  'Notification',
  'PreCompact',
  'PostCompact',
  'SessionStart',
  'SessionEnd',
  'PermissionRequest',
  'InstructionsLoaded',
  'TaskCreated',
  'TaskCompleted',
  'TeammateIdle',
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** These have nothing that a matcher could look at. */
export const UNMATCHED_EVENTS: ReadonlySet<HookEvent> = new Set<HookEvent>([
  'UserPromptSubmit' as const,
  'Stop' as const,
  'TaskCreated' as const,
  'TaskCompleted' as const,
  'TeammateIdle' as const,
]);

export const HOOK_OUTCOMES = ['ok', 'blocked', 'failed', 'timeout', 'aborted'] as const;

/** One hook that ran, for the journal. */
export interface HookRun {
  /** The command line or the name of the function. */
  readonly hook: string;
  readonly outcome: (typeof HOOK_OUTCOMES)[number];
  readonly durationMs: number;
  /** What went wrong, or what it said to block; empty when there is nothing to say. */
  readonly detail: string;
}

/** What all hooks of one event said together. A hook that failed has said nothing. */
export interface HookVerdict {
  /** PreToolUse: the strictest of all. */
  readonly permission?: HookOpinion;
  /** PreToolUse: takes the place of the input, and re-enters at schema. */
  readonly updatedInput?: unknown;
  /** Exit 2, or `decision: "block"`: what that means depends on the event. */
  readonly block?: { readonly reason: string; readonly hook: string };
  /** PostToolUse of an MCP tool: takes the place of what it returned. */
  readonly updatedOutput?: unknown;
  /** PermissionRequest: answers in a person's place. */
  readonly answer?: PermissionAnswer;
  /** `continue: false`: the run ends here, and why. */
  readonly halt?: string;
  /** For the model, in the order of the hooks. Bounded. */
  readonly context: readonly string[];
  /** For people. */
  readonly messages: readonly string[];
  readonly runs: readonly HookRun[];
}

export const NO_VERDICT: HookVerdict = { context: [], messages: [], runs: [] };

/** The event's own fields, as they stand on the wire: `tool_name`, `prompt`, `trigger`. */
export type HookFacts = Readonly<Record<string, unknown>>;

/** The hooks that are set up for one agent. */
export interface Hooks {
  /** Whether any hook would run. `subject` is what matchers look at: a tool, a trigger, a source. */
  has(event: HookEvent, subject?: string): boolean;
  /** Runs them all at once until one blocks. Never rejects, and takes bounded time. */
  fire(event: HookEvent, facts: HookFacts, terms: HookTerms): Promise<HookVerdict>;
}

export interface HookTerms {
  readonly subject?: string;
  /** The tool call that it is about, for the journal. */
  readonly call?: string;
  readonly signal: AbortSignal;
}

/** Whom letters are from that hooks have written: they go along with the next message. */
export const HOOK_SENDER = 'hook';

export const NO_HOOKS: Hooks = { has: () => false, fire: () => Promise.resolve(NO_VERDICT) };
