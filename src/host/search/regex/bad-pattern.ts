/** The error for a search pattern that the engines cannot use. */
import { SearchError } from '../../../protocol/tools/file-search.js';

export const badPattern = (reason: string): SearchError =>
  new SearchError(
    `The pattern cannot be used: ${reason}. Write it as ripgrep takes it, with a backslash before characters that are meant literally.`,
  );

export const ONE_LINE_ONLY = 'it asks for a line break, which needs multiline: true';
