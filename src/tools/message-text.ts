/** What an agent reads of a message that another one sent it. The words of the other are data. */
import type { TeamMessage, TeamRequest } from '../protocol/team-message.js';
import { onOneLine } from './search-report.js';
import { shortLine } from './truncation.js';
import { withoutOurTags } from './untrusted-text.js';

const LONGEST_NAME = 100;

export interface Sender {
  /** How it is written to. */
  readonly name: string;
  /** What else tells it apart: its type and id. */
  readonly label: string;
}

/** `request` is what an answer has to name. */
export const messageText = (from: Sender, message: TeamMessage, request: string): string => {
  const label = line(from.label, 300);
  if (typeof message === 'string') {
    return `[A message from ${label}]\n${inTags('agent-message', message)}`;
  }
  return requestText(line(from.name, LONGEST_NAME), label, message, request);
};

const requestText = (
  name: string,
  label: string,
  message: TeamRequest,
  request: string,
): string => {
  const answer = (type: string, why: string) =>
    `Answer with SendMessage to ${JSON.stringify(name)}, message {"type": "${type}", "request_id": ${JSON.stringify(request)}, "approve": true or false, "${why}": "…"}.`;
  switch (message.type) {
    case 'shutdown_request':
      return [
        `[${label} asks you to end your work.]`,
        ...quoted(message.reason),
        `Agree when nothing is left that you must do; else say why not. ${answer('shutdown_response', 'reason')}`,
      ].join('\n');
    case 'shutdown_response':
      return [
        message.approve
          ? `[${label} agrees to end, and ends.]`
          : `[${label} does not want to end yet.]`,
        ...quoted(message.reason),
      ].join('\n');
    case 'plan_approval_request':
      return [
        `[${label} asks you to approve its plan. Until you do it can only look.]`,
        inTags('agent-plan', message.plan),
        answer('plan_approval_response', 'feedback'),
      ].join('\n');
    case 'plan_approval_response':
      return [
        message.approve
          ? `[${label} approves your plan: carry it out.]`
          : `[${label} does not approve your plan: plan again.]`,
        ...quoted(message.feedback),
      ].join('\n');
  }
};

const quoted = (words: string | undefined): readonly string[] =>
  words === undefined ? [] : [inTags('agent-message', words)];

const inTags = (tag: string, words: string): string =>
  `<${tag}>\n${withoutOurTags(words.trim())}\n</${tag}>`;

const line = (text: string, length: number): string =>
  shortLine(withoutOurTags(onOneLine(text)), length);
