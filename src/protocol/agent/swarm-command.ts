/** Commands from another terminal to the process that runs a swarm, and the replies. */
import { z } from 'zod';

/** Mailbox address at which the owner of a swarm reads commands. */
export const COMMAND_ADDRESS = 'commands';
/** Time that a sender waits for a reply. An older command is dropped, because its sender has given up. */
export const COMMAND_LIFETIME_MS = 30_000;

export const swarmCommand = z.discriminatedUnion('type', [
  /** `agent` is an id, a name, or the beginning of an id. */
  z.object({ type: z.literal('send'), agent: z.string(), text: z.string() }),
  z.object({ type: z.literal('stop'), agent: z.string() }),
  z.object({ type: z.literal('resume'), agent: z.string() }),
]);
export type SwarmCommand = z.infer<typeof swarmCommand>;

/** `sentence` is for people. `agent` is the id that the address was resolved to. */
const commandReply = z.object({
  ok: z.boolean(),
  sentence: z.string(),
  agent: z.string().nullable(),
});
export type CommandReply = z.infer<typeof commandReply>;

/** Body of the reply letter, which goes to the address that the command came from. */
export const commandAnswer = z.object({
  /** Id of the letter with the command. */
  command: z.string(),
  reply: commandReply,
});

/**
 * Steers a swarm on behalf of commands. `agent` is an address: an id, a name, or the beginning of an
 * id. An address that matches no agent or several agents yields a reply with `ok: false`. Rejects only
 * on defects.
 */
export interface SwarmControl {
  /** Idempotent per `letter`, the id under which the message is journaled. */
  send(agent: string, text: string, from: string, letter: string): Promise<CommandReply>;
  /** Resolves when the agent and its descendants have stopped. */
  stop(agent: string): Promise<CommandReply>;
  resume(agent: string): Promise<CommandReply>;
}
