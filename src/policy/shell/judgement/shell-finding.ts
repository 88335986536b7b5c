/** Safety check of a command line: forbidden, dangerous, unclear or questionable. */
import type { SafetyFinding } from '../../../protocol/tools/tool.js';
import type { ShellEnvironment, ShellReading } from '../shell-part.js';
import { dangerousCommand } from './dangerous-command.js';
import { forbiddenCommand } from './forbidden-command.js';
import { questionableCommand } from './questionable-command.js';

/** Returns the gravest finding. A known danger comes before a doubt, because its reason says more. */
export const shellFinding = (
  reading: ShellReading,
  environment: ShellEnvironment,
): SafetyFinding | undefined => {
  const denied = forbiddenCommand(reading, environment);
  if (denied !== undefined) return { behavior: 'deny', reason: denied };
  const danger = dangerousCommand(reading, environment);
  if (danger !== undefined) return { behavior: 'ask', reason: danger };
  const [doubt] = reading.doubts;
  // A command line that cannot be read may hide a forbidden command, so no mode runs it without a question.
  if (doubt !== undefined) return { behavior: 'ask', reason: doubt, doubt: !reading.isFailed };
  const mild = questionableCommand(reading);
  return mild === undefined ? undefined : { behavior: 'ask', reason: mild, mild: true };
};
