/** Lets a person decide what only a person can, among the answers that the agent can think of. */
import { z } from 'zod';
import type { PersonAnswer } from '../../protocol/permission/permission.js';
import { DECIDE_YOURSELF, defineTool, ToolFailure } from '../../protocol/tools/tool.js';
import { shortLine, startOf } from '../truncation.js';

const LONGEST_QUESTION = 4_000;
const LONGEST_LABEL = 200;
const LONGEST_DESCRIPTION = 1_000;
const LONGEST_ANSWER = 20_000;

const PROMPT = `Asks the person you work for one question, and waits for the answer.

- For decisions that are theirs: what they want, which of several good ways, something only they know. Not for permission to use a tool, and not for what you can find out yourself.
- Give 2 to 8 options with short labels, the one you would choose first. The person can also answer in words of their own.
- Set multiple when more than one may be chosen.
- When nobody can answer, decide yourself and say what you assumed.`;

const option = z.strictObject({
  label: z
    .string()
    .regex(/\S/, 'must not be empty')
    .max(LONGEST_LABEL)
    .describe('The answer in a few words.'),
  description: z.string().max(LONGEST_DESCRIPTION).optional().describe('What choosing it means.'),
});

export const askUser = defineTool({
  name: 'AskUser',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    question: z
      .string()
      .regex(/\S/, 'must not be empty')
      .max(LONGEST_QUESTION)
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
  describe: ({ question }) => `AskUser ${shortLine(question.trim().replace(/\s+/g, ' '), 120)}`,
  // A question that was read cannot be taken back with an attempt, so it waits for its message.
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: () => ({ action: 'none', target: '' }),
  interruptBehavior: 'cancel',
  async call({ question, options, multiple = false }, { askPerson }) {
    if (askPerson === undefined) {
      throw new ToolFailure(`Nobody can answer questions in this run. ${DECIDE_YOURSELF}`);
    }
    const answer = await askPerson({ question, options: options.map(withoutGaps), multiple });
    const labels = options.map(({ label }) => label);
    const chosen = [...new Set(answer.chosen)];
    const strange = chosen.find((label) => !labels.includes(label));
    if (strange !== undefined || (chosen.length > 1 && !multiple)) {
      throw new ToolFailure(`The answer does not fit the question. ${DECIDE_YOURSELF}`);
    }
    return {
      content: worded(answer, chosen),
      facts: { asked: 'surface', chosen: chosen.length, ownWords: hasWords(answer) },
    };
  },
});

const withoutGaps = ({ label, description }: z.output<typeof option>) =>
  description === undefined ? { label } : { label, description };

const hasWords = ({ text = '' }: PersonAnswer) => text.trim() !== '';

const worded = (answer: PersonAnswer, chosen: readonly string[]): string => {
  const words = hasWords(answer) ? boundedWords(answer.text ?? '') : undefined;
  if (chosen.length === 0 && words === undefined) {
    throw new ToolFailure(`The person chose nothing. ${DECIDE_YOURSELF}`);
  }
  const choice = chosen.length === 0 ? [] : [`The person chose: ${chosen.join('; ')}`];
  const said = words === undefined ? [] : [`The person said: ${words}`];
  return [...choice, ...said].join('\n');
};

const boundedWords = (text: string): string =>
  text.length <= LONGEST_ANSWER
    ? text
    : `${startOf(text, LONGEST_ANSWER)} [… cut after ${LONGEST_ANSWER} characters]`;
