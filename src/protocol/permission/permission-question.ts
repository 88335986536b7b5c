/** Questions to people and their answers: permission for a call, and choices that a model asks for. */
import type { Risk } from './ruling.js';

/** A sub-agent that asks, as shown to the person. */
export interface Asker {
  readonly agent: string;
  /** Name of the agent's definition. Null: a fork. */
  readonly type: string | null;
  readonly name: string | null;
  /** Task of the agent, in a few words. */
  readonly task: string;
}

/** A file that a call would replace, at the time of the question. */
export interface ReplacedFile {
  readonly bytes: number;
  /** Number of lines. Left out for a binary file or a file that is too large. */
  readonly lines?: number;
  /** Contents. Left out for a long file or a file that must not be read. */
  readonly text?: string;
}

/** A permission question. `inputDigest` binds the answer to the exact input. */
export interface PermissionQuestion {
  readonly id: string;
  readonly agent: string;
  readonly call: string;
  readonly tool: string;
  readonly input: unknown;
  readonly inputDigest: string;
  readonly description: string;
  readonly reason: string;
  readonly risk: Risk;
  /** Directory that relative paths and commands of the input start from. */
  readonly cwd: string;
  /** Rule that is stored if the person allows the call for the session or the project. */
  readonly grant?: string;
  /** True if no allow rule can answer the question. A rule stored for the project has no effect in other sessions. */
  readonly isAlwaysAsked?: boolean;
  readonly blockedPath?: string;
  /** File that a Write would replace. Left out if the file does not exist. The answer is not bound to it. */
  readonly replaces?: ReplacedFile;
  /** Agents from below the lead down to the asking agent. Left out if the lead asks. */
  readonly askers?: readonly Asker[];
}

export type AnswerScope = 'once' | 'session' | 'project';

export type PermissionAnswer =
  | {
      readonly behavior: 'allow';
      readonly scope?: AnswerScope;
      /** Replaces the input, which re-enters the pipeline at schema, once. */
      readonly updatedInput?: unknown;
    }
  | {
      readonly behavior: 'deny';
      readonly reason: string;
      /** True if the run must end too, not only this call. */
      readonly interrupt?: boolean;
    };

/** A choice that an agent asks a person to make. */
export interface PersonQuestion {
  readonly id: string;
  readonly agent: string;
  readonly call: string;
  readonly question: string;
  readonly options: readonly PersonOption[];
  /** True if several options may be chosen. */
  readonly multiple: boolean;
}

export interface PersonOption {
  readonly label: string;
  readonly description?: string;
}

/** Labels of options, free text, or both. An answer with neither is no answer. */
export interface PersonAnswer {
  readonly chosen: readonly string[];
  readonly text?: string;
}

/** Error message of a surface that closed before it answered. */
export const SURFACE_CLOSED = 'The terminal or program that could answer has closed.';

/** A place that can answer questions: a screen, an inbox, an SDK callback. */
export interface Surface {
  /** Rejects if there is no answer here. Other surfaces may still answer. */
  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer>;
  /** Left out if the surface answers permission questions only. Rejects if the person declines to answer. */
  choose?(question: PersonQuestion, signal: AbortSignal): Promise<PersonAnswer>;
}
