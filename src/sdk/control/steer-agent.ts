/** Steers an agent from another process: by its lead, or directly without a running lead. */
import type { CommandReply, SwarmCommand } from '../../protocol/agent/swarm-command.js';
import { MAX_LETTER_LENGTH } from '../../protocol/session/mailbox.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { commandSwarm } from './command-swarm.js';
import { steerOrphaned } from './steer-orphaned.js';

/**
 * Rejects with UsageError if no process can carry out the command. `agent` is the id of the agent. `signal`
 * ends the wait for the outcome, but the command is sent anyway.
 */
export const steerAgent = async (
  store: SessionStore,
  session: string,
  agent: string,
  command: SwarmCommand,
  signal?: AbortSignal,
): Promise<CommandReply> => {
  // Without a lead, a worker may still run the agent, or it may wait in the queue.
  const hasLead = (await store.holder(session)) !== undefined;
  return hasLead
    ? commandSwarm(store, session, command, signal)
    : steerOrphaned(store, session, agent, command, signal);
};

/** Returns why the text cannot be sent, or undefined if it can. */
export const refusalOfText = (text: string): string | undefined =>
  Buffer.byteLength(text) > MAX_LETTER_LENGTH / 2
    ? 'The text is too long to be sent; put it in a file and send its path.'
    : undefined;
