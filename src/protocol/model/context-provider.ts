/**
 * What an agent is told besides what people say: the head of its prompt, what comes before the first
 * message, and what is worth a reminder later. A host makes it; the agent writes down what it was told.
 */
import type { MemoryLayer } from '../tools/memory.js';
import type { PromptHead } from './prompt.js';

/** Facts by name, as they were when they were told: `date`, `branch`, `mode`, `rule:/path`. */
export type KnownFacts = Readonly<Record<string, string>>;

/** Stands before everything else in the first message. */
export interface Preamble {
  readonly text: string;
  readonly facts: KnownFacts;
  /** For people who want to know where the words came from. */
  readonly files?: readonly PreambleFile[];
}

/** A file with instructions, and what became of it. */
export interface PreambleFile {
  readonly layer: MemoryLayer;
  readonly path: string;
  /** The file that includes it. */
  readonly parent: string | null;
  /** It is in the opening, had no room there, or waits until a file that it is about is touched. */
  readonly fate: 'told' | 'left out' | 'waits';
  /** What a rule is about. */
  readonly paths?: readonly string[];
  /** As the model reads it, with its origin. */
  readonly text: string;
}

/** Joins the newest user message at its end; it never touches what was sent before. */
export interface Reminder {
  /** The fact that it tells, and its value from now on. */
  readonly fact: string;
  readonly value: string;
  readonly text: string;
}

/** Which session a head is for. Of the one that it had, its tools, marks and context are kept. */
export interface HeadRequest {
  readonly cwd: string;
  readonly model: string;
  readonly version: string;
  readonly entrypoint: string;
  readonly kept?: PromptHead;
}

/** Nothing here rejects: what cannot be found out is left out, and people are told. */
export interface ContextProvider {
  /** Sections that do not change are computed once, and again after `renew`. */
  head(request: HeadRequest): Promise<PromptHead>;
  /** The run asks for something that this head of a former one must not outlive. */
  isStale(head: PromptHead): boolean;
  /** Some section may say something else on every turn, so `head` is worth asking again. */
  readonly mayChange: boolean;
  opening(): Promise<Preamble>;
  /** What is no longer as it was told, and what holds for the files that were just touched. */
  reminders(
    told: ReadonlyMap<string, string>,
    touched: readonly string[],
  ): Promise<readonly Reminder[]>;
  /** The conversation begins anew, or was shortened: everything is looked at again. */
  renew(): void;
}
