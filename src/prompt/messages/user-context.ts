/** User context at the start of the first message: instruction files, permission mode and date. */
import type { PermissionMode } from '../../protocol/permission/permission-mode.js';
import { pathList } from '../escape-tags.js';
import { type InstructionBlock, instructionText, type Trimmed } from './instruction-block.js';
import { systemReminder } from './system-reminder.js';

export const userContext = (
  { kept, dropped }: Trimmed,
  { date, mode }: { readonly date: string; readonly mode: PermissionMode },
  changes: readonly string[] = [],
): string =>
  systemReminder(
    [
      ...(kept.length === 0 ? [] : [INTRODUCTION, ...kept.map(instructionText)]),
      ...(dropped.length === 0 ? [] : [omittedFilesText(dropped)]),
      ...modeText(mode),
      ...changes,
      `Today's date is ${date}.`,
    ].join('\n\n'),
  );

const INTRODUCTION =
  'These instructions come from files that people wrote for agents. They apply to the whole conversation, as far as they concern the task; in a conflict the later one applies.';

export const omittedFilesText = (dropped: readonly InstructionBlock[]): string =>
  `Left out because there are too many; read them if they matter: ${pathList(dropped.map(({ path }) => path)).join(', ')}.`;

/** Explains the mode. Returns an empty list for a mode that needs no explanation. */
export const modeText = (mode: PermissionMode): readonly string[] => {
  const meaning = MODES[mode];
  return meaning === undefined ? [] : [`Permission mode: ${mode}. ${meaning}`];
};

const MODES: Readonly<Partial<Record<PermissionMode, string>>> = {
  plan: 'Only read and plan: calls with effects are denied. End with a plan, and show it with ExitPlanMode.',
  acceptEdits: 'Edits inside the workspace need no approval.',
  dontAsk: 'Calls that no rule allows are denied, not asked.',
  bypassPermissions: 'Only explicit rules and secrets still cause questions: take more care.',
};
