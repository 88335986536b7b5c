/** Writes to another agent of the swarm, by its name or id. */
import { z } from 'zod';
import { SpawnRefusal } from '../../protocol/agent/swarm.js';
import {
  isUndelivered,
  MESSAGE_KINDS,
  type MessageReceipt,
} from '../../protocol/agent/team-message.js';
import { defineTool, ToolFailure, type ToolOutcome } from '../../protocol/tools/tool.js';
import { shortLine } from '../truncation.js';
import { shownName } from './message-text.js';

const LONGEST_NAME = 100;
const LONGEST_MESSAGE = 100_000;
const LONGEST_ID = 300;
const LONGEST_SUMMARY = 200;

const PROMPT = `Writes to another agent: to its name or id, to "lead", or to "*" for all other teammates. It reads it with its next step; one that rests or has ended goes on with it.

What you say without this tool nobody but your parent reads, at your end.`;

const text = (longest: number) => z.string().regex(/\S/, 'must not be empty').max(longest);

const input = z
  .strictObject({
    to: text(LONGEST_NAME).describe('Who gets it.'),
    message: text(LONGEST_MESSAGE).describe('The words, the plan, or the reason.'),
    type: z.enum(MESSAGE_KINDS).optional().describe('message if left out.'),
    request_id: text(LONGEST_ID).optional().describe('Of a response: what you were given.'),
    approve: z.boolean().optional().describe('Of a response: yes or no.'),
    summary: z.string().max(LONGEST_SUMMARY).optional().describe('5 to 10 words, for people.'),
  })
  .refine(
    ({ type = 'message', request_id, approve }) =>
      type.endsWith('_response') === (request_id !== undefined && approve !== undefined),
    'a response needs request_id and approve, and nothing else has them',
  );

export const sendMessage = defineTool({
  name: 'SendMessage',
  kind: 'builtin',
  prompt: PROMPT,
  input,
  describe: ({ to, type, message, summary }) => {
    const kind = type === undefined || type === 'message' ? '' : ` (${type})`;
    const words = shortLine((summary ?? message).trim(), LONGEST_SUMMARY);
    return `SendMessage ${shortLine(to, LONGEST_NAME)}${kind}: ${words}`;
  },
  isReadOnly: () => false,
  isConcurrencySafe: () => true,
  // Its id comes from the call, so sent again it is the same message.
  rejoins: true,
  subject: ({ to }) => ({ action: 'none', target: to }),
  interruptBehavior: 'block',
  async call({ to, message, type: kind = 'message', request_id, approve }, { agents, call }) {
    if (agents === undefined) throw new ToolFailure('There are no other agents here.');
    try {
      const answers =
        request_id === undefined || approve === undefined
          ? undefined
          : { request: request_id, approve };
      const sent = { kind, text: message, answers };
      return told(await agents.send({ call, to: to.trim(), message: sent }));
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
  const lines = receipts.map(({ name, came, why, request }) => {
    const asked = request === undefined ? '' : ` (request ${request})`;
    const fate = why === undefined ? CAME[came] : `does not get it: ${why.replace(/\.$/, '')}`;
    return `${shownName(name)} ${fate}${asked}.`;
  });
  if (receipts.every(isUndelivered)) throw new ToolFailure(lines.join('\n'));
  return { content: lines.join('\n'), facts: { recipients: receipts.length } };
};
