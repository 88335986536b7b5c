/** SendMessage: sends a message to another agent of the swarm, by name or id. */
import { z } from 'zod';
import { AgentRefusal } from '../../protocol/agent/agents.js';
import {
  isUndelivered,
  MESSAGE_KINDS,
  type MessageReceipt,
} from '../../protocol/agent/team-message.js';
import { defineTool, ToolFailure, type ToolOutcome } from '../../protocol/tools/tool.js';
import { truncateLine } from '../text/truncate-text.js';
import { shownName } from './message-text.js';

const MAX_NAME_LENGTH = 100;
const MAX_MESSAGE_LENGTH = 100_000;
const MAX_ID_LENGTH = 300;
const MAX_SUMMARY_LENGTH = 200;

const PROMPT = `Sends a message to another agent: to its name or id, to "lead", or to "*" for all other teammates. The agent reads it in its next step; an idle or ended agent resumes.

Other text of yours is read only by your parent, when you end.`;

const text = (maxLength: number) => z.string().regex(/\S/, 'must not be empty').max(maxLength);

const input = z
  .strictObject({
    to: text(MAX_NAME_LENGTH).describe('The recipient.'),
    message: text(MAX_MESSAGE_LENGTH).describe('The text, the plan, or the reason.'),
    type: z.enum(MESSAGE_KINDS).optional().describe('Default: message.'),
    request_id: text(MAX_ID_LENGTH).optional().describe('For a response: the id you got.'),
    approve: z.boolean().optional().describe('For a response: yes or no.'),
    summary: z.string().max(MAX_SUMMARY_LENGTH).optional().describe('5 to 10 words, for people.'),
  })
  .refine(
    ({ type = 'message', request_id, approve }) =>
      type.endsWith('_response') === (request_id !== undefined && approve !== undefined),
    'a response needs request_id and approve; other types must not have them',
  );

export const sendMessage = defineTool({
  name: 'SendMessage',
  kind: 'builtin',
  prompt: PROMPT,
  input,
  describe: ({ to, type, message, summary }) => {
    const kind = type === undefined || type === 'message' ? '' : ` (${type})`;
    const shown = truncateLine((summary ?? message).trim(), MAX_SUMMARY_LENGTH);
    return `SendMessage ${truncateLine(to, MAX_NAME_LENGTH)}${kind}: ${shown}`;
  },
  isReadOnly: () => false,
  isConcurrencySafe: () => true,
  // The message id comes from the call, so a repeated call sends the same message.
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
      return receiptText(await agents.send({ call, to: to.trim(), message: sent }));
    } catch (error) {
      if (error instanceof AgentRefusal) throw new ToolFailure(error.message, { cause: error });
      throw error;
    }
  },
});

const RECEIPTS: Readonly<Record<MessageReceipt['outcome'], string>> = {
  delivered: 'has it and reads it in its next step',
  resumed: 'was not running and resumes with it',
  held: 'has it, and reads it when the user resumes it',
  refused: 'does not get it: the user stopped it, and only the user can resume it',
  lost: 'does not get it: it can no longer be resumed',
};

const receiptText = (receipts: readonly MessageReceipt[]): ToolOutcome => {
  const lines = receipts.map(({ name, outcome, why, request }) => {
    const requestNote = request === undefined ? '' : ` (request ${request})`;
    const fate =
      why === undefined ? RECEIPTS[outcome] : `does not get it: ${why.replace(/\.$/, '')}`;
    return `${shownName(name)} ${fate}${requestNote}.`;
  });
  if (receipts.every(isUndelivered)) throw new ToolFailure(lines.join('\n'));
  return { content: lines.join('\n'), facts: { recipients: receipts.length } };
};
