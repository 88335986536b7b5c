/** What a second terminal can ask of the process that runs a swarm, and what it hears back. */
import { z } from 'zod';
import { signedAnswer } from './answer.js';

/** Where the owner of a swarm reads commands. */
export const COMMAND_ADDRESS = 'commands';

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
