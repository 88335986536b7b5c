/** Summary text of a compaction: the directive that asks for it and the block that holds it. */

/**
 * Returns the directive that asks for the summary, sent after the conversation. It lists all that
 * must be in the summary, because the agent resumes from the summary alone.
 */
export const summaryDirective = (instructions: string): string =>
  `${DIRECTIVE}${userInstructions(instructions)}`;

const DIRECTIVE = `The conversation is about to outgrow the context window, so its older part will be replaced by a summary that you write now. Answer with the summary alone, as plain text. Do not call a tool: no call will run.

The agent that continues, probably you, will see only the summary and the last few messages. Write, under these headings:

1. Goal: what the user wants, in the user's own words where they matter, with every later correction and request.
2. Done: what was changed, file by file with full paths, and why; commands that were run and their results.
3. Facts: names, values, signatures, error texts and outputs that later work depends on, copied exactly.
4. Tried and dropped: what failed or was rejected, with the reason, so that it is not tried again.
5. Permissions: what the user allowed or refused.
6. Open: what is unfinished, the current state of the work, and the very next step.

If the conversation begins with an earlier summary, merge it into yours: keep what still applies, drop what is settled. Leave out what the files already say. Be complete first and brief second.`;

const userInstructions = (instructions: string): string =>
  instructions.trim() === ''
    ? ''
    : `\n\nThe user adds, for this summary: ${instructions.trim().toWellFormed()}`;

/** Returns the block that replaces the summarised messages. */
export const summaryText = (firstPrompt: string, summary: string): string =>
  [
    'The older part of this conversation was replaced by a summary to fit the context window.',
    ...(firstPrompt === '' ? [] : [`The first prompt was, word for word:\n\n${firstPrompt}`]),
    `The summary of what happened since:\n\n${shortened(summary)}`,
    'The newest part of the conversation follows unchanged. Continue from there; read files again instead of relying on memory.',
  ].join('\n\n');

const MAX_SUMMARY_LENGTH = 60_000;

const shortened = (summary: string): string =>
  summary.length <= MAX_SUMMARY_LENGTH
    ? summary
    : `${summary.slice(0, MAX_SUMMARY_LENGTH).toWellFormed()}\n[The summary was longer and is cut here.]`;
