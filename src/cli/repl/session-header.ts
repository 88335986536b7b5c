/** Session header and footer of the REPL, and the last exchange of a resumed session. */
import type { LeadSession } from '../../actors/session/lead-session.js';
import { blocksText } from '../../context/history/last-answer.js';
import type { WireBlock } from '../../protocol/model/wire-block.js';
import { VERSION } from '../../sdk/assembly/version.js';
import { formatMoney } from '../../terminal/text/format-number.js';
import { echoLines, exactText, lastLines, sanitize } from '../../terminal/text/sanitize.js';

export interface HeaderFacts {
  readonly id: string;
  readonly model: string;
  readonly cwd: string;
  readonly mode: string;
}

export const sessionHeader = ({ id, model, cwd, mode }: HeaderFacts): string =>
  [
    `Skein ${VERSION}, session ${id}`,
    `Model ${model}, permission mode ${mode}, working in ${exactText(cwd)}`,
    'Type what to do, or /help for help.',
    '',
  ].join('\n');

const QUESTION_LINES = 3;
const ANSWER_LINES = 10;

/** Returns the newest prompt and its answer, shortened. Returns '' for an empty conversation. */
export const lastExchange = ({ journal }: LeadSession): string => {
  const { messages } = journal.history;
  const prompt = messages.findLast(({ role, answersCalls }) => role === 'user' && !answersCalls);
  const answer = messages.findLast(
    (message) => message.role === 'assistant' && textIn(message.bytes) !== '',
  );
  const lines: string[] = [];
  if (prompt !== undefined) {
    lines.push(`> ${echoLines(textIn(prompt.bytes), QUESTION_LINES).join('\n  ')}`, '');
  }
  if (answer !== undefined) lines.push(...lastLines(sanitize(textIn(answer.bytes)), ANSWER_LINES));
  return lines.length === 0 ? '' : `The last exchange:\n\n${lines.join('\n')}\n`;
};

const textIn = (bytes: Buffer): string => {
  const { content } = JSON.parse(bytes.toString()) as { readonly content: string | WireBlock[] };
  if (typeof content === 'string') return content.trim();
  return blocksText(content.filter((block) => !isReminder(block))).trim();
};

/** True for a system reminder, which no person wrote. */
const isReminder = ({ text }: WireBlock): boolean =>
  typeof text === 'string' &&
  text.startsWith('<system-reminder>') &&
  text.endsWith('</system-reminder>');

export const sessionFooter = ({ id, spent }: LeadSession, isSaved: boolean): string => {
  const hint = isSaved ? `Resume with: skein --resume ${id}` : 'It was not saved.';
  return `Session ${id}, cost ${formatMoney(spent.cost)}. ${hint}\n`;
};
