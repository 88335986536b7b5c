/** What hooks want the model to know, as a letter that goes along with the next message, at its tail. */
import { systemReminder, withoutTags } from '../../prompt/messages/quote-text.js';
import type { Ids } from '../../protocol/ids.js';
import { rawText } from '../../protocol/model/wire.js';
import { HOOK_SENDER, type HookEvent, type HookVerdict } from '../../protocol/permission/hooks.js';
import type { JournaledState } from '../agent/journaled-state.js';

/** Throws a StorageError. */
export const recordHookContext = (
  { notebook, ids }: { readonly notebook: JournaledState; readonly ids: Ids },
  event: HookEvent,
  { context }: HookVerdict,
): void => {
  if (context.length === 0) return;
  const blocks = context.map((text) => rawText(contextText(event, text)));
  const letter = ids('letter');
  const raw = `[${blocks.join(',')}]`;
  notebook.record({ type: 'letter.received', letter, from: HOOK_SENDER, raw });
};

const contextText = (event: HookEvent, text: string): string =>
  systemReminder(`A ${event} hook of the user adds:\n${withoutTags(text)}`);
