/** Writes to another agent of the swarm, by its name or id. */
import { z } from 'zod';
import { SpawnRefusal } from '../protocol/swarm.js';
import { type MessageReceipt, teamMessage } from '../protocol/team-message.js';
import { defineTool, ToolFailure, type ToolOutcome } from '../protocol/tool.js';
import { shortLine } from './truncation.js';

const LONGEST_NAME = 100;

const PROMPT = `Writes to another agent: to its name or id, to "lead", or to "*" for all other teammates. It reads it with its next step; one that rests or has ended goes on with it.

What you say without this tool nobody but your parent reads, at your end.`;

export const sendMessage = defineTool({
  name: 'SendMessage',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    to: z.string().regex(/\S/, 'must not be empty').max(LONGEST_NAME).describe('Who gets it.'),
    message: teamMessage.describe('Words, or a request or answer as you were told.'),
    summary: z.string().max(200).optional().describe('It in 5 to 10 words, for people.'),
  }),
  describe: ({ to, message, summary }) => {
    const words = summary ?? (typeof message === 'string' ? message : message.type);
    return `SendMessage ${shortLine(to, LONGEST_NAME)}: ${shortLine(words.trim(), 200)}`;
  },
  isReadOnly: () => false,
  isConcurrencySafe: () => true,
  // Its id comes from the call, so sent again it is the same message.
  rejoins: true,
  subject: ({ to }) => ({ action: 'none', target: to }),
  interruptBehavior: 'block',
  async call({ to, message }, { agents, call }) {
    if (agents === undefined) throw new ToolFailure('There are no other agents here.');
    try {
      return told(await agents.send({ call, to: to.trim(), message }));
    } catch (error) {
      if (error instanceof SpawnRefusal) throw new ToolFailure(error.message, { cause: error });
      throw error;
    }
  },
});

const CAME: Readonly<Record<MessageReceipt['came'], string>> = {
  delivered: 'has it, and reads it with its next step',
  resumed: 'was not at work, and goes on with it',
  held: 'has it; a person stopped it, so it reads it when a person lets it go on',
  refused: 'does not get it: a person stopped it, and only a person can let it go on',
  lost: 'does not get it: nothing is left of it to go on with',
};

const told = (receipts: readonly MessageReceipt[]): ToolOutcome => {
  const lines = receipts.map(({ name, came, request }) => {
    const asked = request === undefined ? '' : ` (request ${request})`;
    return `${shortLine(name, LONGEST_NAME)} ${CAME[came]}${asked}.`;
  });
  const isGone = ({ came }: MessageReceipt) => came === 'refused' || came === 'lost';
  if (receipts.every(isGone)) throw new ToolFailure(lines.join('\n'));
  return { content: lines.join('\n'), facts: { recipients: receipts.length } };
};
