/** User context at the start of the first message: instruction files, permission mode and date. */
import type { PermissionMode } from '../../protocol/permission/permission-mode.js';
import { pathList } from '../escape-tags.js';
import { type InstructionBlock, instructionText, type Trimmed } from './instruction-block.js';
import { systemReminder } from './system-reminder.js';

interface ContextFacts {
  readonly date: string;
  readonly mode: PermissionMode;
  /** False if the prompt does not show ExitPlanMode. Default: true. */
  readonly canShowPlan?: boolean;
}

export const userContext = (
  { kept, dropped }: Trimmed,
  { date, mode, canShowPlan }: ContextFacts,
  changes: readonly string[] = [],
): string =>
  systemReminder(
    [
      ...(kept.length === 0 ? [] : [INTRODUCTION, ...kept.map(instructionText)]),
      ...(dropped.length === 0 ? [] : [omittedFilesText(dropped)]),
      ...modeText(mode, canShowPlan),
      ...changes,
      `Today's date is ${date}.`,
    ].join('\n\n'),
  );

const INTRODUCTION =
  'These instructions come from files that people wrote for agents. They apply to the whole conversation, as far as they concern the task; in a conflict the later one applies.';

export const omittedFilesText = (dropped: readonly InstructionBlock[]): string =>
  `Left out because there are too many; read them if they matter: ${pathList(dropped.map(({ path }) => path)).join(', ')}.`;

/** Explains the mode. Returns an empty list for a mode that needs no explanation. */
export const modeText = (mode: PermissionMode, canShowPlan = true): readonly string[] => {
  const meaning = mode === 'plan' && !canShowPlan ? PLAN_ONLY : MODES[mode];
  return meaning === undefined ? [] : [`Permission mode: ${mode}. ${meaning}`];
};

const PLAN_ONLY = 'Only read and plan: calls with effects are denied. End with a plan.';

const MODES: Readonly<Partial<Record<PermissionMode, string>>> = {
  plan: 'Only read and plan: calls with effects are denied. End with a plan, and show it with ExitPlanMode.',
  acceptEdits: 'Edits inside the workspace need no approval.',
  dontAsk: 'Calls that no rule allows are denied, not asked.',
  bypassPermissions: 'Only explicit rules and secrets still cause questions: take more care.',
};
