/** AskUser: asks the person a question with options. */
import { z } from 'zod';
import type { PersonAnswer } from '../../protocol/permission/permission-question.js';
import { DECIDE_YOURSELF, defineTool, ToolFailure } from '../../protocol/tools/tool.js';
import { truncateLine, truncateText } from '../text/truncate-text.js';

const MAX_QUESTION_LENGTH = 4_000;
const MAX_LABEL_LENGTH = 200;
const MAX_DESCRIPTION_LENGTH = 1_000;
const MAX_ANSWER_LENGTH = 20_000;

const PROMPT = `Asks the user one question, and waits for the answer.

- For the user's decisions: what they want, which of several good ways, facts that only they know. Not for permission to use a tool, and not for what you can find out yourself.
- Give 2 to 8 options with short labels, the one you would choose first. The user can also answer in their own words.
- Set multiple when more than one may be chosen.
- If the user cannot answer, decide yourself and say what you assumed.`;

const option = z.strictObject({
  label: z
    .string()
    .regex(/\S/, 'must not be empty')
    .max(MAX_LABEL_LENGTH)
    .describe('The answer in a few words.'),
  description: z
    .string()
    .max(MAX_DESCRIPTION_LENGTH)
    .optional()
    .describe('What choosing it means.'),
});

export const askUser = defineTool({
  name: 'AskUser',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    question: z
      .string()
      .regex(/\S/, 'must not be empty')
      .max(MAX_QUESTION_LENGTH)
      .describe('A whole sentence.'),
    options: z
      .array(option)
      .min(2)
      .max(8)
      .refine((options) => new Set(options.map(({ label }) => label)).size === options.length, {
        error: 'two options have the same label',
      })
      .describe('Answers to choose from.'),
    multiple: z.boolean().optional().describe('More than one may be chosen.'),
  }),
  describe: ({ question }) => `AskUser ${truncateLine(question.trim().replace(/\s+/g, ' '), 120)}`,
  // A question cannot be taken back with a failed attempt, so it waits for the complete message.
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'cancel',
  async call({ question, options, multiple = false }, { askPerson }) {
    if (askPerson === undefined) {
      throw new ToolFailure(`The user cannot answer questions in this run. ${DECIDE_YOURSELF}`);
    }
    const answer = await askPerson({ question, options: options.map(withoutGaps), multiple });
    const labels = options.map(({ label }) => label);
    const chosen = [...new Set(answer.chosen)];
    const unknown = chosen.find((label) => !labels.includes(label));
    if (unknown !== undefined || (chosen.length > 1 && !multiple)) {
      throw new ToolFailure(`The answer does not fit the question. ${DECIDE_YOURSELF}`);
    }
    return {
      content: answerText(answer, chosen),
      facts: { asked: 'surface', chosen: chosen.length, ownWords: hasText(answer) },
    };
  },
});

const withoutGaps = ({ label, description }: z.output<typeof option>) =>
  description === undefined ? { label } : { label, description };

const hasText = ({ text = '' }: PersonAnswer) => text.trim() !== '';

const answerText = (answer: PersonAnswer, chosen: readonly string[]): string => {
  const text = hasText(answer) ? boundedText(answer.text ?? '') : undefined;
  if (chosen.length === 0 && text === undefined) {
    throw new ToolFailure(`The user chose nothing. ${DECIDE_YOURSELF}`);
  }
  const choice = chosen.length === 0 ? [] : [`The user chose: ${chosen.join('; ')}`];
  const comment = text === undefined ? [] : [`The user said: ${text}`];
  return [...choice, ...comment].join('\n');
};

const boundedText = (text: string): string =>
  text.length <= MAX_ANSWER_LENGTH
    ? text
    : `${truncateText(text, MAX_ANSWER_LENGTH)} [… cut after ${MAX_ANSWER_LENGTH} characters]`;
