/**
 * Port that supplies an agent's context besides prompts: system prompt, preamble of the first message,
 * and reminders. A host implements it. The agent journals the context that it was given.
 */
import type { MemoryLayer } from '../tools/memory.js';
import type { PromptHead } from './prompt-head.js';

/** Values of facts by name, at the time the agent read them: `date`, `branch`, `mode`, `rule:/path`. */
export type KnownFacts = Readonly<Record<string, string>>;

/** Beginning of the first message. */
export interface Preamble {
  /** The same for all agents of a session. */
  readonly text: string;
  /** Role of a typed agent: the block after the text. */
  readonly role?: string;
  readonly facts: KnownFacts;
  /** Files that the text came from, for reports. */
  readonly files?: readonly PreambleFile[];
}

/** An instruction file, and whether the agent has read it. */
export interface PreambleFile {
  readonly layer: MemoryLayer;
  readonly path: string;
  /** Path of the file that includes it, or null. */
  readonly parent: string | null;
  /** `told`: in the preamble. `left out`: no room. `waits`: for a matching file to be touched. */
  readonly fate: 'told' | 'left out' | 'waits';
  /** Globs of a conditional rule. */
  readonly paths?: readonly string[];
  /** Text as the model reads it, with its origin. */
  readonly text: string;
}

/** Text at the end of the newest user message. Sent messages never change. */
export interface Reminder {
  /** Name of the fact that has changed. `value` is its new value. */
  readonly fact: string;
  readonly value: string;
  readonly text: string;
}

/** Session that a head is made for. */
export interface HeadRequest {
  readonly cwd: string;
  readonly model: string;
  readonly version: string;
  readonly entrypoint: string;
  /** Earlier head of the session, whose tools, breakpoints and context are reused. */
  readonly kept?: PromptHead;
}

/** No method rejects. Unavailable context is left out, and people are notified. */
export interface ContextProvider {
  /** Returns the tools and system prompt. Static sections are computed once, and again after `renew`. */
  head(request: HeadRequest): Promise<PromptHead>;
  /** True if the options of this run make the head of an earlier run unusable. */
  isStale(head: PromptHead): boolean;
  /** True if a section may change on every turn, so that `head` must be called again. */
  readonly mayChange: boolean;
  /**
   * Returns the same preamble for every agent until `renew`. Facts that have changed since then are
   * reminders.
   */
  preamble(): Promise<Preamble>;
  /** Returns facts that differ from `announced`, and rules for the files that were just touched. */
  reminders(
    announced: ReadonlyMap<string, string>,
    touched: readonly string[],
  ): Promise<readonly Reminder[]>;
  /** Drops cached sections, because the conversation was cleared or compacted. */
  renew(): void;
}
