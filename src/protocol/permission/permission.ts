/** Nouns of the control plane: modes, rules, requests, rulings, questions and answers. */
import type { PermissionSubject } from '../tools/tool.js';

export const PERMISSION_MODES = [
  'default',
  'acceptEdits',
  'plan',
  'dontAsk',
  'bypassPermissions',
] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** What an agent can be in: also `bubble`, whose questions go up to the parent. Nobody can choose it. */
export type AgentMode = PermissionMode | 'bubble';

/** Where a rule or a setting came from, weakest first: `flag` is --settings, `command` the other arguments. */
export const SETTING_SOURCES = [
  'user',
  'project',
  'local',
  'flag',
  'command',
  'session',
  'policy',
] as const;
export type SettingSource = (typeof SETTING_SOURCES)[number];

export type RuleBehavior = 'allow' | 'deny' | 'ask';

export interface PermissionRule {
  readonly behavior: RuleBehavior;
  /** As it was written: `Bash(npm run test:*)`. */
  readonly text: string;
  readonly source: SettingSource;
  /** The file that holds it; rules from flags have none. */
  readonly file?: string;
  /** Where in the file, counted from 1. */
  readonly line?: number;
}

/** One call, as the pipeline sees it. */
export interface PermissionRequest {
  readonly tool: string;
  readonly subject: PermissionSubject;
  readonly readOnly: boolean;
  /** Absolute working directory of the agent. */
  readonly cwd: string;
}

/** The steps of law 5, in order. */
export const PIPELINE_STEPS = [
  'schema',
  'hooks',
  'deny',
  'ask',
  'mode',
  'allow',
  'callback',
  'reject',
] as const;
export type PipelineStep = (typeof PIPELINE_STEPS)[number];

/** What PreToolUse hooks say of a call. An allow is heard only after deny and ask. */
export interface HookOpinion {
  readonly behavior: RuleBehavior;
  readonly reason: string;
  /** The command or the name of the function that said it. */
  readonly hook: string;
}

/** How much a call can spoil: `high` is what cannot be undone, leaves the workspace or opens secrets. */
export type Risk = 'low' | 'medium' | 'high';

/** What the pipeline decides before anybody is asked. */
export interface Ruling {
  readonly behavior: 'allow' | 'deny' | 'ask';
  readonly step: PipelineStep;
  /** One sentence for people and for the model. */
  readonly reason: string;
  /** What would have led to another ruling, in one sentence. */
  readonly instead: string;
  readonly risk: Risk;
  /** The tool says that it only reads, or the command is proven to. */
  readonly readOnly: boolean;
  readonly rule?: PermissionRule;
  /** The hook that decided. */
  readonly hook?: string;
  /** The place on disk that it is about, where there is one. */
  readonly blockedPath?: string;
}

/** An agent that works for another, as whoever is asked sees it. */
export interface Asker {
  readonly agent: string;
  /** Null is a fork. */
  readonly type: string | null;
  readonly name: string | null;
  /** What it is to do, in a few words. */
  readonly task: string;
}

/** A file that a call would replace, as it was when the question was asked. */
export interface ReplacedFile {
  readonly bytes: number;
  /** Left out where it is no text, or too large to be looked at. */
  readonly lines?: number;
  /** Left out where it is long, or must not be read. */
  readonly text?: string;
}

/** A question to a person. `inputDigest` binds the answer to the exact input. */
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
  /** Where relative paths and commands of the input start. */
  readonly cwd: string;
  /** The rule that an answer for the session or the project is kept as. */
  readonly grant?: string;
  /** No allow rule answers it: one that is kept for the project is not heard in other sessions. */
  readonly isAlwaysAsked?: boolean;
  readonly blockedPath?: string;
  /** The file that a Write would replace; left out where nothing is there. No answer is bound to it. */
  readonly replaces?: ReplacedFile;
  /** For whom it is asked: those below the lead, whoever asks last. Left out when it is the lead. */
  readonly askers?: readonly Asker[];
}

export type AnswerScope = 'once' | 'session' | 'project';

export type PermissionAnswer =
  | {
      readonly behavior: 'allow';
      readonly scope?: AnswerScope;
      /** Re-enters the pipeline at schema, once. */
      readonly updatedInput?: unknown;
    }
  | {
      readonly behavior: 'deny';
      readonly reason: string;
      /** The person wants the run to end here, not only this call. */
      readonly interrupt?: boolean;
    };

/** Something that only a person can decide, asked by an agent with the answers it can think of. */
export interface PersonQuestion {
  readonly id: string;
  readonly agent: string;
  readonly call: string;
  readonly question: string;
  readonly options: readonly PersonOption[];
  /** More than one option may be chosen. */
  readonly multiple: boolean;
}

export interface PersonOption {
  readonly label: string;
  readonly description?: string;
}

/** Labels of options, words of the person's own, or both; neither is no answer. */
export interface PersonAnswer {
  readonly chosen: readonly string[];
  readonly text?: string;
}

/** Whatever can answer: a screen, an inbox, an SDK callback. */
export interface Surface {
  /** Rejects when there is no answer; then somebody else may still give one. */
  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer>;
  /** Left out by a surface that can only rule. Rejects when the person does not want to answer. */
  choose?(question: PersonQuestion, signal: AbortSignal): Promise<PersonAnswer>;
}
