/** Steers an agent from another process: by way of whoever leads its session, or past a lead that is gone. */

import type { CommandReply, SwarmCommand } from '../../protocol/agent/swarm-commands.js';
import { LONGEST_LETTER } from '../../protocol/session/mailbox.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { commandSwarm } from './remote-commands.js';
import { steerOrphaned } from './steer-orphaned.js';

/**
 * Rejects with a UsageError when nobody can do that now. `agent` is the id of the one that is meant. Once
 * `signal` aborts nobody waits for what comes of it; it is told all the same.
 */
export const steerAgent = async (
  store: SessionStore,
  session: string,
  agent: string,
  command: SwarmCommand,
  signal?: AbortSignal,
): Promise<CommandReply> => {
  // Workers may have agents of a session whose lead is gone, or get them yet.
  const hasLead = (await store.holder(session)) !== undefined;
  return hasLead
    ? commandSwarm(store, session, command, signal)
    : steerOrphaned(store, session, agent, command, signal);
};

/** Why a text cannot be sent as it is; undefined when it can. */
export const refusalOfText = (text: string): string | undefined =>
  Buffer.byteLength(text) > LONGEST_LETTER / 2
    ? 'The text is too long to be sent; put it in a file and send its path.'
    : undefined;
