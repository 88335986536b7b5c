/** Hands a prompt to the agent. What is returned says whether it still waits to be read. */
import type { LeadSession } from '../../actors/session/session.js';
import { randomIds } from '../../protocol/ids.js';
import type { RawJson } from '../../protocol/model/wire.js';

export const sendPrompt = (session: LeadSession, blocks: RawJson): (() => boolean) => {
  const { letters } = session.notebook.history;
  const letter = randomIds('letter');
  let isRefused = false;
  session.submit(blocks, letter, (refusal) => {
    isRefused = refusal !== undefined;
  });
  // Hooks may look at it for a while before it is written down; in a message it is no letter any more.
  return () => !isRefused && (letters.has(letter) || !letters.isKnown(letter));
};
