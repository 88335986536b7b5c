/** Text edit: replaces a passage of a text, under the rules that Edit and MultiEdit share. */
import { z } from 'zod';
import { ToolFailure } from '../../protocol/tools/tool.js';
import { MAX_EDITED_BYTES } from '../file-access/open-for-edit.js';
import {
  findPassages,
  type Passage,
  replacePassages,
  toUnixEndings,
} from '../text/find-passages.js';
import { countLines, linePage } from '../text/line-page.js';

const MAX_PASSAGES = 100_000;
const CONTEXT_LINES = 3;
const MAX_SNIPPET_LENGTH = 4_000;

export const EDIT_FIELDS = {
  old_string: z.string().describe('Passage to replace.'),
  new_string: z.string().describe('New text; empty deletes it.'),
  replace_all: z.boolean().optional().describe('Replace every occurrence.'),
};

export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

export interface AppliedEdit {
  readonly text: string;
  readonly passages: readonly Passage[];
}

/** Throws ToolFailure if the passage is missing, ambiguous or unchanged. */
export const applyEdit = (path: string, text: string, edit: TextEdit): AppliedEdit => {
  const { old_string, new_string, replace_all = false } = edit;
  refuseNonsense(old_string, new_string);
  const passages = choosePassages(path, text, old_string, replace_all);
  if (text.length + passages.length * new_string.length > 2 * MAX_EDITED_BYTES) {
    throw new ToolFailure(`${path} would become too large to be edited. Use sed in Bash.`);
  }
  return { text: replacePassages(text, passages, new_string), passages };
};

const refuseNonsense = (before: string, after: string) => {
  if (before === '') {
    throw new ToolFailure(
      'old_string is empty. Give the passage to replace, or use Write to create a file.',
    );
  }
  if (toUnixEndings(before) === toUnixEndings(after)) {
    throw new ToolFailure('old_string and new_string are the same, so there is nothing to change.');
  }
};

const choosePassages = (path: string, text: string, oldText: string, isAll: boolean) => {
  const passages = findPassages(text, oldText, { overlapping: !isAll, atMost: MAX_PASSAGES + 1 });
  const count = passages.length;
  if (count === 0) {
    throw new ToolFailure(
      `old_string is not in ${path}. Read it again and copy the passage exactly.`,
    );
  }
  if (count > MAX_PASSAGES) {
    throw new ToolFailure(
      `old_string occurs more than ${MAX_PASSAGES} times in ${path}. Use sed in Bash.`,
    );
  }
  if (count > 1 && !isAll) {
    throw new ToolFailure(
      `old_string occurs ${count} times in ${path}. Add lines around it until it is unique, or set replace_all.`,
    );
  }
  return passages;
};

/** Returns lines `first` to `last` with context lines, numbered as in Read. */
export const snippet = (text: string, first: number, last: number): string => {
  const from = Math.max(1, first - CONTEXT_LINES);
  const limit = last - from + 1 + CONTEXT_LINES;
  const page = linePage(text, { first: from, limit, maxBytes: MAX_SNIPPET_LENGTH });
  return page.text === '' ? '' : ` It now reads:\n${page.text}`;
};

export const lineNumberAt = (text: string, position: number): number =>
  countLines(text.slice(0, position)) + (text[position - 1] === '\n' || position === 0 ? 1 : 0);
