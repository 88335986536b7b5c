/** Message text as the receiving agent reads it. Text of the sender is data. */
import type { TeamMessage } from '../../protocol/agent/team-message.js';
import { untrustedLine, withoutSkeinTags } from '../text/untrusted-text.js';

const MAX_NAME_LENGTH = 100;
const MAX_LABEL_LENGTH = 300;

export interface Sender {
  /** Address for an answer. */
  readonly name: string;
  /** Name with type and id. */
  readonly label: string;
}

/** `request` is the id that an answer has to name. */
export const messageText = (from: Sender, message: TeamMessage, request: string): string => {
  const { kind, text, answers } = message;
  const label = untrustedLine(from.label, MAX_LABEL_LENGTH);
  const isApproved = answers?.approve === true;
  const answer = (type: string) =>
    `Answer with SendMessage: to ${JSON.stringify(untrustedLine(from.name, MAX_NAME_LENGTH))}, type "${type}", request_id ${JSON.stringify(request)}, approve true or false, and why as the message.`;
  switch (kind) {
    case 'message':
      return wrapped(`A message from ${label}`, text);
    case 'shutdown_request':
      return `${wrapped(`${label} asks you to end your work.`, text)}\nAgree when nothing is left that you must do. ${answer('shutdown_response')}`;
    case 'shutdown_response':
      return wrapped(
        `${label} ${isApproved ? 'agrees to end, and ends' : 'does not want to end yet'}.`,
        text,
      );
    case 'plan_approval_request':
      return `${wrapped(`${label} asks you to approve its plan. Until then it can only read.`, text)}\n${answer('plan_approval_response')}`;
    case 'plan_approval_response':
      return wrapped(
        `${label} ${isApproved ? 'approves your plan: carry it out' : 'does not approve your plan: plan again'}.`,
        text,
      );
  }
};

const wrapped = (head: string, text: string): string =>
  `[${head}]\n<agent-message>\n${withoutSkeinTags(text.trim())}\n</agent-message>`;

/** Returns the name of an agent as one short line. */
export const shownName = (name: string): string => untrustedLine(name, MAX_NAME_LENGTH);
