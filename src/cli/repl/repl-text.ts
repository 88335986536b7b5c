/** What the interactive session says about itself: where it is, what was said last. */
import type { LeadSession } from '../../actors/session/session.js';
import { textOf } from '../../context/history/last-answer.js';
import type { WireBlock } from '../../protocol/model/wire.js';
import { VERSION } from '../../sdk/version.js';
import { money } from '../../terminal/text/format-numbers.js';
import { echoOf, exactText, lastLines, sanitize } from '../../terminal/text/sanitize.js';

export interface Place {
  readonly id: string;
  readonly model: string;
  readonly cwd: string;
  readonly mode: string;
}

export const headerText = ({ id, model, cwd, mode }: Place): string =>
  [
    `Skein ${VERSION}, session ${id}`,
    `Model ${model}, permission mode ${mode}, working in ${exactText(cwd)}`,
    'Type what to do, or /help for help.',
    '',
  ].join('\n');

const QUESTION_LINES = 3;
const ANSWER_LINES = 10;

/** The end of a conversation that goes on: the newest prompt, and what was answered. */
export const lastExchange = ({ notebook }: LeadSession): string => {
  const { messages } = notebook.history;
  const prompt = messages.findLast(({ role, answersCalls }) => role === 'user' && !answersCalls);
  const answer = messages.findLast(
    (message) => message.role === 'assistant' && saidIn(message.bytes) !== '',
  );
  const lines: string[] = [];
  if (prompt !== undefined) {
    lines.push(`> ${echoOf(saidIn(prompt.bytes), QUESTION_LINES).join('\n  ')}`, '');
  }
  if (answer !== undefined) lines.push(...lastLines(sanitize(saidIn(answer.bytes)), ANSWER_LINES));
  return lines.length === 0 ? '' : `The last exchange:\n\n${lines.join('\n')}\n`;
};

const saidIn = (bytes: Buffer): string => {
  const { content } = JSON.parse(bytes.toString()) as { readonly content: string | WireBlock[] };
  if (typeof content === 'string') return content.trim();
  return textOf(content.filter((block) => !isReminder(block))).trim();
};

/** What the agent was told in between; nobody has said it. */
const isReminder = ({ text }: WireBlock): boolean =>
  typeof text === 'string' &&
  text.startsWith('<system-reminder>') &&
  text.endsWith('</system-reminder>');

export const farewellText = ({ id, spent }: LeadSession, isKept: boolean): string => {
  const how = isKept ? `Go on with it: skein --resume ${id}` : 'Nothing of it was kept.';
  return `Session ${id}, cost ${money(spent.cost)}. ${how}\n`;
};
