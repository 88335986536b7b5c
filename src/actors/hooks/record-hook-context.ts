/**
 * Records context that hooks add for the model, as a letter at the end of the next user message.
 */

import { escapeTags } from '../../prompt/escape-tags.js';
import { systemReminder } from '../../prompt/messages/system-reminder.js';
import type { Ids } from '../../protocol/ids.js';
import { rawText } from '../../protocol/model/wire-block.js';
import { HOOK_SENDER, type HookEvent, type HookVerdict } from '../../protocol/permission/hooks.js';
import type { JournaledState } from '../agent/journaled-state.js';

/** Records the context as a letter. Throws StorageError. */
export const recordHookContext = (
  { journal, ids }: { readonly journal: JournaledState; readonly ids: Ids },
  event: HookEvent,
  { context }: HookVerdict,
): void => {
  if (context.length === 0) return;
  const blocks = context.map((text) => rawText(contextText(event, text)));
  const letter = ids('letter');
  const raw = `[${blocks.join(',')}]`;
  journal.record({ type: 'letter.received', letter, from: HOOK_SENDER, raw });
};

const contextText = (event: HookEvent, text: string): string =>
  systemReminder(`A ${event} hook of the user adds:\n${escapeTags(text)}`);
