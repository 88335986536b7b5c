/** What an agent is told when a person took back only half: the files, or the conversation. */
import { somePaths, systemReminder } from './quote-text.js';

/** The files were put back, and the conversation still speaks of how they were. */
export const filesWerePutBack = (paths: readonly string[]): string =>
  systemReminder(
    `The person has put files back to how they were earlier. What you know of them from before no longer holds: read them again before you change them, and do not repeat the changes unless you are asked to.\n${listed(paths)}`,
  );

/** The conversation was taken back, and the files still are as they were left. */
export const filesWereKept = (paths: readonly string[]): string =>
  systemReminder(
    `Later parts of this conversation were taken back by the person, but what was done to these files in them was kept. Read them again before you rely on them.\n${listed(paths)}`,
  );

const listed = (paths: readonly string[]): string =>
  somePaths(paths)
    .map((path) => `- ${path}`)
    .join('\n');
