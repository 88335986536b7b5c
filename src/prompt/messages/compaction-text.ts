/** What is said to a model when its conversation is shortened, before and after. */

/**
 * Asks for the summary, at the end of the conversation that it is about. It names what must survive:
 * whoever goes on has nothing else.
 */
export const summaryDirective = (instructions: string): string =>
  `${DIRECTIVE}${wishes(instructions)}`;

const DIRECTIVE = `The conversation is about to outgrow the context window, so its older part will be replaced by a summary that you write now. Answer with the summary alone, as plain text. Do not call a tool: nothing would run.

Whoever continues from your summary, probably you, will see only it and the last few messages. Write down, under these headings:

1. Goal: what the user wants, in the user's own words where they matter, with every later correction and wish.
2. Done: what was changed, file by file with full paths, and why; commands that were run and what came of them.
3. Facts: names, values, signatures, error texts and outputs that later work depends on, copied exactly.
4. Tried and dropped: what failed or was turned down, with the reason, so that nobody tries it again.
5. Permissions: what the user allowed or refused.
6. Open: what is unfinished, the state of the work at this moment, and the very next step.

If the conversation begins with an earlier summary, merge it into yours: keep what still holds, drop what is settled. Leave out what the files themselves say better. Be complete first and brief second.`;

const wishes = (instructions: string): string =>
  instructions.trim() === ''
    ? ''
    : `\n\nThe user adds, for this summary: ${instructions.trim().toWellFormed()}`;

/** The block that stands for the messages that are gone. */
export const summaryText = (opening: string, summary: string): string =>
  [
    'The older part of this conversation was replaced by a summary to fit the context window.',
    ...(opening === '' ? [] : [`The first prompt was, word for word:\n\n${opening}`]),
    `The summary of what happened since:\n\n${shortened(summary)}`,
    'What follows is the newest part of the conversation as it was. Go on from there; read files again instead of relying on how they are remembered.',
  ].join('\n\n');

const LONGEST_SUMMARY = 60_000;

const shortened = (summary: string): string =>
  summary.length <= LONGEST_SUMMARY
    ? summary
    : `${summary.slice(0, LONGEST_SUMMARY).toWellFormed()}\n[The summary was longer and is cut here.]`;
