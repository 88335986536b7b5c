/** A configured hook, and the result of one run. */
import type { HookEvent } from './hooks.js';

/** Returns the same output object that a command hook prints. Any other value counts as no output. */
export type HookFunction = (
  input: Readonly<Record<string, unknown>>,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal },
) => unknown;

type HookAction =
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'function'; readonly name: string; readonly run: HookFunction };

export interface HookSetup {
  readonly event: HookEvent;
  readonly matches: (subject: string) => boolean;
  readonly action: HookAction;
  readonly timeoutMs: number;
  /** True if the agent does not wait for the hook and ignores its output. */
  readonly isAsync: boolean;
  /** True if the hook runs only once in a session. */
  readonly once: boolean;
}

export const DEFAULT_HOOK_SECONDS = 60;
export const MAX_HOOK_SECONDS = 3_600;
/** Limit per event, because each hook may be a process. */
export const MAX_HOOKS_PER_EVENT = 50;

/** Result of one hook run. Texts are well-formed and bounded. */
export type HookEnd =
  | {
      readonly kind: 'exited';
      readonly exitCode: number;
      readonly stdout: string;
      readonly stderr: string;
      /** True if the output was longer than the limit. */
      readonly isCut: boolean;
    }
  /** Return value of a function hook. */
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  | { readonly kind: 'aborted' };

/** A command hook to run in the shell. */
export interface HookCommand {
  readonly command: string;
  readonly cwd: string;
  /** Standard input: one JSON object. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Never rejects. Ends soon after the time-out. */
export type RunHookCommand = (command: HookCommand) => Promise<HookEnd>;
