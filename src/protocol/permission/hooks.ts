/**
 * Hooks: user programs and functions that observe, extend or block the actions of agents.
 *
 * The stdin and stdout format of command hooks matches existing hook scripts. Inside Skein the output
 * of all hooks of an event becomes one HookVerdict.
 */

import type { PermissionAnswer } from './permission-question.js';
import type { HookOpinion } from './ruling.js';

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

/** Events without a subject for matchers. */
export const UNMATCHED_EVENTS: ReadonlySet<HookEvent> = new Set<HookEvent>([
  'UserPromptSubmit' as const,
  'Stop' as const,
  'TaskCreated' as const,
  'TaskCompleted' as const,
  'TeammateIdle' as const,
]);

export const HOOK_OUTCOMES = ['ok', 'blocked', 'failed', 'timeout', 'aborted'] as const;

/** One hook run, for the journal. */
export interface HookRun {
  /** Command line or function name. */
  readonly hook: string;
  readonly outcome: (typeof HOOK_OUTCOMES)[number];
  readonly durationMs: number;
  /** Error text, or the reason for a block. Empty if there is none. */
  readonly detail: string;
  /** Left out for a function, and for a command that did not exit by itself. */
  readonly exitCode?: number;
}

/** Combined output of all hooks of one event. A failed hook contributes no output. */
export interface HookVerdict {
  /** PreToolUse: the strictest decision. */
  readonly permission?: HookOpinion;
  /** PreToolUse: replaces the input, which re-enters the pipeline at schema. */
  readonly updatedInput?: unknown;
  /** Exit code 2 or `decision: "block"`. The effect depends on the event. */
  readonly block?: { readonly reason: string; readonly hook: string };
  /** PostToolUse of an MCP tool: replaces its result. */
  readonly updatedOutput?: unknown;
  /** PermissionRequest: the answer, given instead of a person. */
  readonly answer?: PermissionAnswer;
  /** `continue: false`: reason why the run ends. */
  readonly halt?: string;
  /** Texts for the model, in hook order. Bounded. */
  readonly context: readonly string[];
  /** Texts for people. */
  readonly messages: readonly string[];
  readonly runs: readonly HookRun[];
}

export const NO_VERDICT: HookVerdict = { context: [], messages: [], runs: [] };

/** Event-specific fields of the hook input: `tool_name`, `prompt`, `trigger`. */
export type HookFacts = Readonly<Record<string, unknown>>;

/** Hooks configured for one agent. */
export interface Hooks {
  /** True if any hook would run. `subject` is the text that matchers test: a tool, a trigger, a source. */
  has(event: HookEvent, subject?: string): boolean;
  /** Runs all matching hooks concurrently until a hook blocks. Never rejects. Takes bounded time. */
  fire(event: HookEvent, facts: HookFacts, options: HookOptions): Promise<HookVerdict>;
}

export interface HookOptions {
  readonly subject?: string;
  /** Id of the tool call, for the journal. */
  readonly call?: string;
  readonly signal: AbortSignal;
}

/** Sender of letters with hook output. They are sent with the next message and wake no agent. */
export const HOOK_SENDER = 'hook';

export const NO_HOOKS: Hooks = { has: () => false, fire: () => Promise.resolve(NO_VERDICT) };
