/** Replaces an exact passage of a file, and refuses to guess when it is missing or repeated. */
import { z } from 'zod';
import { defineTool, ToolFailure } from '../protocol/tool.js';
import { changedSinceRead, locate, orExplain } from './file-access.js';
import { decodeText, encodeText } from './file-text.js';
import { lineChange } from './line-change.js';
import { fillPassages, findPassages, type Passage, toUnix } from './line-endings.js';
import { countLines, linePage } from './line-numbers.js';

const LARGEST_FILE = 16 * 1024 * 1024;
const MOST_PASSAGES = 100_000;
const CONTEXT_LINES = 3;
const MAX_SNIPPET = 4_000;

const PROMPT = `Replaces an exact passage in a file.

- Read the file first. If it changed since, the edit is refused and you read it again.
- old_string must match the file exactly, indentation included, without the line numbers that Read shows.
- old_string must occur once. Add neighbouring lines until it does, or set replace_all to change every occurrence.
- Line endings and the encoding mark of the file stay as they are; write \\n.
- To create a file or replace all of it, use Write.`;

export const editFile = defineTool({
  name: 'Edit',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    file_path: z
      .string()
      .min(1)
      .describe('The file to change, absolute or from the working directory.'),
    old_string: z.string().describe('The passage to replace, copied exactly.'),
    new_string: z.string().describe('The text to put in its place; empty to delete the passage.'),
    replace_all: z
      .boolean()
      .optional()
      .describe('Replace every occurrence instead of exactly one.'),
  }),
  describe: ({ file_path }) => `Edit ${file_path}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: ({ file_path }) => ({ action: 'write', target: file_path }),
  interruptBehavior: 'block',
  async call({ file_path, old_string, new_string, replace_all = false }, context) {
    refuseNonsense(old_string, new_string);
    const path = locate(file_path, context);
    const file = await orExplain(context.workspace.read(path, LARGEST_FILE));
    const seen = context.readStamp(path);
    if (seen === undefined) throw new ToolFailure(`You have not read ${path}. Read it first.`);
    if (seen.digest !== file.stamp.digest) throw new ToolFailure(changedSinceRead(path));

    const { text, hasBom } = decodeText(path, file.bytes);
    const passages = choosePassages(path, text, old_string, replace_all);
    const edited = fillPassages(text, passages, new_string);
    const bytes = encodeText(edited, 'new_string', hasBom);
    const stamp = await orExplain(context.workspace.write(path, bytes, file.stamp));

    const change = lineChange(toUnix(old_string), toUnix(new_string));
    const times = passages.length;
    return {
      content: `Replaced ${times === 1 ? 'one passage' : `${times} passages`} in ${path}.${snippet(edited, passages, new_string)}`,
      notes: [{ type: 'file.seen', path, stamp }],
      facts: {
        path,
        replaced: times,
        linesAdded: change.added * times,
        linesRemoved: change.removed * times,
        diffDigest: change.digest,
        digest: stamp.digest,
      },
    };
  },
});

const refuseNonsense = (before: string, after: string) => {
  if (before === '') {
    throw new ToolFailure(
      'old_string is empty. Give the passage to replace, or use Write to create a file.',
    );
  }
  if (toUnix(before) === toUnix(after)) {
    throw new ToolFailure('old_string and new_string are the same, so there is nothing to change.');
  }
};

const choosePassages = (path: string, text: string, wanted: string, all: boolean) => {
  const passages = findPassages(text, wanted, { overlapping: !all, atMost: MOST_PASSAGES + 1 });
  const count = passages.length;
  if (count === 0) {
    throw new ToolFailure(
      `old_string is not in ${path}. Read it again and copy the passage exactly.`,
    );
  }
  if (count > MOST_PASSAGES) {
    throw new ToolFailure(
      `old_string occurs more than ${MOST_PASSAGES} times in ${path}. Use sed in Bash.`,
    );
  }
  if (count > 1 && !all) {
    throw new ToolFailure(
      `old_string occurs ${count} times in ${path}. Add lines around it until it is unique, or set replace_all.`,
    );
  }
  return passages;
};

/** The first change with a few lines around it, numbered as Read would. */
const snippet = (edited: string, [passage]: readonly Passage[], replacement: string): string => {
  if (passage === undefined || edited === '') return '';
  const line = edited.slice(0, passage.start).split('\n').length;
  const first = Math.max(1, line - CONTEXT_LINES);
  const limit = line - first + Math.max(1, countLines(replacement)) + CONTEXT_LINES;
  const page = linePage(edited, { first, limit, maxCharacters: MAX_SNIPPET });
  return page.text === '' ? '' : ` It now reads:\n${page.text}`;
};
