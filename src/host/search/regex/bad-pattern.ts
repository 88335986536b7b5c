/** The error for a search pattern that the engines cannot use. */
import { SearchError } from '../../../protocol/tools/file-search.js';

export const badPattern = (reason: string): SearchError =>
  new SearchError(
    `The pattern cannot be used: ${reason}. Use the syntax of ripgrep, with a backslash before literal special characters.`,
  );

export const ONE_LINE_ONLY = 'it asks for a line break, which needs multiline: true';
