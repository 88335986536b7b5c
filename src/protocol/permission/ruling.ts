/** Ruling of the permission pipeline on one call. */
import type { PermissionSubject } from '../tools/tool.js';
import type { PermissionRule, RuleBehavior } from './permission-rule.js';

/** One call, as input of the pipeline. */
export interface PermissionRequest {
  readonly tool: string;
  readonly subject: PermissionSubject;
  readonly readOnly: boolean;
  /** Absolute working directory of the agent. */
  readonly cwd: string;
  /** Input as it was sent and as the schema parsed it, for rules about parameters. Default: none. */
  readonly inputs?: readonly Readonly<Record<string, unknown>>[];
}

/** Steps of the pipeline, in order (law 5). */
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

/** Decision of PreToolUse hooks. An `allow` takes effect only after the deny and ask steps. */
export interface HookOpinion {
  readonly behavior: RuleBehavior;
  readonly reason: string;
  /** Command line or function name of the hook. */
  readonly hook: string;
}

/** Possible damage of a call. `high`: cannot be undone, leaves the workspace, or opens secrets. */
export type Risk = 'low' | 'medium' | 'high';

/** Decision of the pipeline before any surface is asked. */
export interface Ruling {
  readonly behavior: 'allow' | 'deny' | 'ask';
  readonly step: PipelineStep;
  /** One sentence for people and for the model. */
  readonly reason: string;
  /** One sentence: the change that would lead to another ruling. */
  readonly instead: string;
  readonly risk: Risk;
  /** True if the tool declares the call read-only, or the command is proven read-only. */
  readonly readOnly: boolean;
  readonly rule?: PermissionRule;
  /** True if no answer may be stored, because the rule that asked covers more than the subject of the call. */
  readonly everyTime?: true;
  /** The hook that decided. */
  readonly hook?: string;
  /** Path that caused the ruling. */
  readonly blockedPath?: string;
}
