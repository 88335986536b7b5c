/** A hook as it is set up, and how one run of it ended: what those who read, run and hear it share. */
import type { HookEvent } from './hooks.js';

/** Output is what a command prints, in the same words. Whatever is none of them says nothing. */
export type HookFunction = (
  input: Readonly<Record<string, unknown>>,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal },
) => unknown;

export type HookWork =
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'function'; readonly name: string; readonly run: HookFunction };

export interface HookSetup {
  readonly event: HookEvent;
  readonly matches: (subject: string) => boolean;
  readonly work: HookWork;
  readonly timeoutMs: number;
  /** Nobody waits for it, and what it says is not heard. */
  readonly isAsync: boolean;
  /** It runs the first time that it is called for, and never again in the session. */
  readonly once: boolean;
}

export const DEFAULT_HOOK_SECONDS = 60;
export const MOST_HOOK_SECONDS = 3_600;
/** Of one event; each may be a process. */
export const MOST_HOOKS = 50;

/** How one run of a hook ended. Texts are well-formed and bounded. */
export type HookEnd =
  | {
      readonly kind: 'exited';
      readonly exitCode: number;
      readonly stdout: string;
      readonly stderr: string;
      /** It printed more than is read. */
      readonly isCut: boolean;
    }
  /** A function gave this. */
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  | { readonly kind: 'aborted' };

/** One command hook to be run, in the shell. */
export interface HookCommand {
  readonly command: string;
  readonly cwd: string;
  /** What it reads: one JSON object. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Never rejects, and ends soon after its time is over. */
export type RunHookCommand = (command: HookCommand) => Promise<HookEnd>;
