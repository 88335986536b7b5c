/** What stands before everything else in the first message: instruction files and the day. */
import type { PermissionMode } from '../../protocol/permission/permission.js';
import { type InstructionBlock, instructionText, type Trimmed } from './instruction-block.js';
import { somePaths, systemReminder } from './quote-text.js';

export const userContext = (
  { kept, dropped }: Trimmed,
  { date, mode }: { readonly date: string; readonly mode: PermissionMode },
  news: readonly string[] = [],
): string =>
  systemReminder(
    [
      ...(kept.length === 0 ? [] : [INTRODUCTION, ...kept.map(instructionText)]),
      ...(dropped.length === 0 ? [] : [leftOut(dropped)]),
      ...modeText(mode),
      ...news,
      `Today's date is ${date}.`,
    ].join('\n\n'),
  );

const INTRODUCTION =
  'People left these instructions in files for whoever works here. They hold for the whole conversation, as far as they bear on the task; where two differ the later one holds.';

export const leftOut = (dropped: readonly InstructionBlock[]): string =>
  `Left out because there are too many, read them where they matter: ${somePaths(dropped.map(({ path }) => path)).join(', ')}.`;

/** What a mode means for whoever works in it. */
export const modeText = (mode: PermissionMode): readonly string[] => {
  const meaning = MODES[mode];
  return meaning === undefined ? [] : [`Permission mode: ${mode}. ${meaning}`];
};

const MODES: Readonly<Partial<Record<PermissionMode, string>>> = {
  plan: 'Look and think, change nothing: calls with effects are denied. End with a plan, and show it with ExitPlanMode.',
  acceptEdits: 'Edits inside the workspace need no question.',
  dontAsk: 'What no rule allows is denied without a question.',
  bypassPermissions:
    'Nothing is asked but what explicit rules and secrets require: take the more care.',
};
