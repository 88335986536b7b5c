/** Reminders of the rules that apply to files which a call just used. */
import type { Reminder } from '../../protocol/model/context-provider.js';
import type { MemoryFile } from '../../protocol/tools/memory.js';
import {
  type InstructionBlock,
  instructionBlocks,
  instructionText,
  ruleText,
  trimInstructions,
} from './instruction-block.js';
import { factDigest, wrapReminder } from './system-reminder.js';
import { omittedFilesText } from './user-context.js';

interface RuleReminders {
  readonly reminders: readonly Reminder[];
  /** Rules that exceed the room. */
  readonly dropped: readonly InstructionBlock[];
}

/**
 * Returns a reminder for each rule that the agent does not know in its current text. `announced`
 * are the facts that the conversation still holds. All rules of a conversation share `room`
 * characters; `known` are all rules that earlier reminders may hold.
 */
export const ruleReminders = (
  announced: ReadonlyMap<string, string>,
  rules: readonly MemoryFile[],
  { known, room }: { readonly known: readonly MemoryFile[]; readonly room: number },
): RuleReminders => {
  const used = known
    .filter(({ path }) => announced.has(ruleFact(path)))
    .reduce((sum, rule) => sum + ruleText(rule).length, 0);
  const changed = instructionBlocks(rules).filter(
    ({ path, text }) => announced.get(ruleFact(path)) !== factDigest(text),
  );
  const { kept, dropped } = trimInstructions(changed, room - used);
  const reminders = kept.map((block) => ({
    fact: ruleFact(block.path),
    value: factDigest(block.text),
    text: `This applies to files that you just used:\n${instructionText(block)}`,
  }));
  const value = factDigest(dropped.map(({ path }) => path).join('\n'));
  const isNew = dropped.length > 0 && announced.get(OMITTED) !== value;
  const rest = {
    fact: OMITTED,
    value,
    text: `More rules apply to files that you just used. ${omittedFilesText(dropped)}`,
  };
  return { reminders: [...reminders, ...(isNew ? [rest] : [])].map(wrapReminder), dropped };
};

/** Name of the fact in journals. */
const OMITTED = 'rules left out';
const ruleFact = (path: string) => `rule:${path}`;
