/** What an agent reads of a message that another one sent it. The words of the other are data. */
import type { TeamMessage } from '../../protocol/agent/team-message.js';
import { onOneLine } from '../search/search-report.js';
import { shortLine } from '../truncation.js';
import { withoutOurTags } from '../untrusted-text.js';

const LONGEST_NAME = 100;
const LONGEST_LABEL = 300;

export interface Sender {
  /** How it is written to. */
  readonly name: string;
  /** What else tells it apart: its type and id. */
  readonly label: string;
}

/** `request` is what an answer has to name. */
export const messageText = (from: Sender, message: TeamMessage, request: string): string => {
  const { kind, text, answers } = message;
  const label = line(from.label, LONGEST_LABEL);
  const isYes = answers?.approve === true;
  const answer = (type: string) =>
    `Answer with SendMessage: to ${JSON.stringify(line(from.name, LONGEST_NAME))}, type "${type}", request_id ${JSON.stringify(request)}, approve true or false, and why as the message.`;
  switch (kind) {
    case 'message':
      return said(`A message from ${label}`, text);
    case 'shutdown_request':
      return `${said(`${label} asks you to end your work.`, text)}\nAgree when nothing is left that you must do. ${answer('shutdown_response')}`;
    case 'shutdown_response':
      return said(
        `${label} ${isYes ? 'agrees to end, and ends' : 'does not want to end yet'}.`,
        text,
      );
    case 'plan_approval_request':
      return `${said(`${label} asks you to approve its plan. Until you do it can only look.`, text)}\n${answer('plan_approval_response')}`;
    case 'plan_approval_response':
      return said(
        `${label} ${isYes ? 'approves your plan: carry it out' : 'does not approve your plan: plan again'}.`,
        text,
      );
  }
};

const said = (head: string, words: string): string =>
  `[${head}]\n<agent-message>\n${withoutOurTags(words.trim())}\n</agent-message>`;

/** Whatever an agent is called, its name is one short line among words of ours. */
export const shownName = (name: string): string => line(name, LONGEST_NAME);

const line = (text: string, length: number): string =>
  shortLine(withoutOurTags(onOneLine(text)), length);
