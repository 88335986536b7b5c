/** What a second terminal can ask of the process that runs a swarm, and what it hears back. */
import { z } from 'zod';
import { signedAnswer } from '../permission/answer.js';

/** Where the owner of a swarm reads commands. */
export const COMMAND_ADDRESS = 'commands';
/** How long a sender waits for its reply. An older command is not carried out: nobody waits for it. */
export const COMMAND_LIFETIME_MS = 30_000;

export const swarmCommand = z.discriminatedUnion('type', [
  /** `agent` is an id, a name, or the beginning of an id. */
  z.object({ type: z.literal('send'), agent: z.string(), text: z.string() }),
  z.object({ type: z.literal('stop'), agent: z.string() }),
  z.object({ type: z.literal('resume'), agent: z.string() }),
  z.object({ type: z.literal('answer'), signed: signedAnswer }),
]);
export type SwarmCommand = z.infer<typeof swarmCommand>;

/** One sentence for people; `agent` is the one that was meant. */
export const commandReply = z.object({
  ok: z.boolean(),
  sentence: z.string(),
  agent: z.string().nullable(),
});
export type CommandReply = z.infer<typeof commandReply>;

/** The letter that comes back, at the address that the command was sent from. */
export const commandAnswer = z.object({
  /** The id of the letter with the command. */
  command: z.string(),
  reply: commandReply,
});

/**
 * A swarm as commands steer it. `agent` is an address: an id, a name, or the beginning of an id; one
 * that fits nobody or several is a reply that says so. Rejects for defects alone.
 */
export interface SwarmControl {
  /** `letter` is the id under which it is journaled: the same one again has no second effect. */
  send(agent: string, text: string, from: string, letter: string): Promise<CommandReply>;
  /** Resolves when nothing of it works any more. */
  stop(agent: string): Promise<CommandReply>;
  resume(agent: string): Promise<CommandReply>;
}
