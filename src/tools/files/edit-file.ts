/** Edit: replaces an exact passage of a file, and refuses if it is missing or ambiguous. */
import { z } from 'zod';
import { defineTool } from '../../protocol/tools/tool.js';
import { pathField } from '../file-access/locate-file.js';
import { openForEdit, saveEdit } from '../file-access/open-for-edit.js';
import { toUnixEndings } from '../text/find-passages.js';
import { lineChange } from '../text/line-change.js';
import { countLines } from '../text/line-page.js';
import { applyEdit, EDIT_FIELDS, lineNumberAt, snippet } from './text-edit.js';

const PROMPT = `Replaces an exact passage in a file.

- Read the file first, and again if it changed since: otherwise the edit is refused.
- old_string must match exactly, indentation included, without the line numbers that Read shows, and occur once: add neighbouring lines until it does, or set replace_all.
- Line endings and the BOM stay as they are; write \\n.
- For several changes in one file use MultiEdit; to create or replace a whole file, Write.`;

export const editFile = defineTool({
  name: 'Edit',
  kind: 'builtin',
  prompt: PROMPT,
  mentions: [
    {
      of: ['Read'],
      text: 'Read the file first, and again if it changed since: otherwise the edit is refused.',
      instead: 'A file that you have not seen, or that changed since, cannot be edited.',
    },
    { of: ['Read'], text: ' without the line numbers that Read shows,', instead: '' },
    {
      of: ['MultiEdit', 'Write'],
      text: '\n- For several changes in one file use MultiEdit; to create or replace a whole file, Write.',
      instead: '',
    },
    {
      of: ['MultiEdit'],
      text: 'For several changes in one file use MultiEdit; to create or replace a whole file, Write.',
      instead: 'To create or replace a whole file use Write.',
    },
    { of: ['Write'], text: '; to create or replace a whole file, Write.', instead: '.' },
  ],
  input: z.strictObject({
    file_path: pathField('The file to change'),
    ...EDIT_FIELDS,
  }),
  describe: ({ file_path }) => `Edit ${file_path}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: ({ file_path }) => ({ action: 'write', target: file_path }),
  interruptBehavior: 'block',
  async call({ file_path, ...edit }, context) {
    const file = await openForEdit(file_path, context);
    const { text, passages } = applyEdit(file.path, file.text, edit);
    const { stamp, notes } = await saveEdit(file, text, 'new_string', context);

    const { old_string, new_string } = edit;
    const change = lineChange(toUnixEndings(old_string), toUnixEndings(new_string));
    const times = passages.length;
    const line = lineNumberAt(text, passages[0]?.start ?? 0);
    const shown = snippet(text, line, line + Math.max(1, countLines(new_string)) - 1);
    return {
      content: `Replaced ${times === 1 ? 'one passage' : `${times} passages`} in ${file.path}.${shown}`,
      notes,
      facts: {
        path: file.path,
        replaced: times,
        linesAdded: change.added * times,
        linesRemoved: change.removed * times,
        diffDigest: change.digest,
        digest: stamp.digest,
      },
    };
  },
});
