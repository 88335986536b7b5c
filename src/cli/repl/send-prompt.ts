/** Sends a prompt to the lead. Returns a function that is true while the lead has not read it. */
import type { LeadSession } from '../../actors/session/lead-session.js';
import { randomIds } from '../../protocol/ids.js';
import type { RawJson } from '../../protocol/model/wire-block.js';

export const sendPrompt = (session: LeadSession, blocks: RawJson): (() => boolean) => {
  const { letters } = session.journal.history;
  const letter = randomIds('letter');
  let isRefused = false;
  session.submit(blocks, letter, (refusal) => {
    isRefused = refusal !== undefined;
  });
  // A prompt is unknown while hooks check it, then a letter, and no longer a letter once it is in a message.
  return () => !isRefused && (letters.has(letter) || !letters.isKnown(letter));
};
