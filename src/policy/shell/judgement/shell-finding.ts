/** The safety check of a command line: what is forbidden, dangerous, unclear, or not for broad rules. */
import type { SafetyFinding } from '../../../protocol/tools/tool.js';
import type { ShellReading, ShellWorld } from '../shell-part.js';
import { dangerous } from './shell-dangers.js';
import { questionable } from './shell-doubts.js';
import { forbidden } from './shell-forbidden.js';

/** The gravest finding. A doubt comes after what is known to be dangerous: its reason says less. */
export const shellFinding = (
  reading: ShellReading,
  world: ShellWorld,
): SafetyFinding | undefined => {
  const denied = forbidden(reading, world);
  if (denied !== undefined) return { behavior: 'deny', reason: denied };
  const asked = dangerous(reading, world) ?? reading.doubts[0];
  if (asked !== undefined) return { behavior: 'ask', reason: asked };
  const mild = questionable(reading);
  return mild === undefined ? undefined : { behavior: 'ask', reason: mild, mild: true };
};
