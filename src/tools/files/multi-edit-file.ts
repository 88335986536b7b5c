/** MultiEdit: makes several replacements in a file, in order, all or none. */
import { z } from 'zod';
import { defineTool, ToolFailure } from '../../protocol/tools/tool.js';
import { pathField } from '../file-access/locate-file.js';
import { openForEdit, saveEdit } from '../file-access/open-for-edit.js';
import { changedLines, lineChange } from '../text/line-change.js';
import { type AppliedEdit, applyEdit, EDIT_FIELDS, snippet, type TextEdit } from './text-edit.js';

const MAX_EDITS = 100;

const PROMPT = `Makes up to ${MAX_EDITS} replacements in one file, each under the rules of Edit.

- They are made in the order given, each on the result of the one before.
- All or nothing: if one fails, the file is unchanged, and the error names it.`;

export const multiEditFile = defineTool({
  name: 'MultiEdit',
  kind: 'builtin',
  prompt: PROMPT,
  mentions: [
    {
      of: ['Edit'],
      text: ', each under the rules of Edit.',
      instead: ': each old_string must match exactly and occur once, unless replace_all is set.',
    },
  ],
  input: z.strictObject({
    file_path: pathField('The file to change'),
    edits: z
      .array(z.strictObject(EDIT_FIELDS))
      .min(1)
      .max(MAX_EDITS)
      .describe('The replacements, in order.'),
  }),
  describe: ({ file_path }) => `MultiEdit ${file_path}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: ({ file_path }) => ({ action: 'write', target: file_path }),
  interruptBehavior: 'block',
  async call({ file_path, edits }, context) {
    const file = await openForEdit(file_path, context);
    let text = file.text;
    let replaced = 0;
    for (const [index, edit] of edits.entries()) {
      const applied = applyNamed(file.path, text, edit, `Edit ${index + 1} of ${edits.length}`);
      text = applied.text;
      replaced += applied.passages.length;
    }
    const { stamp, notes } = await saveEdit(file, text, 'new_string', context);

    const change = lineChange(file.text, text);
    const { first, last } = changedLines(file.text, text);
    const passages = replaced === 1 ? 'one passage' : `${replaced} passages`;
    const made = edits.length === 1 ? 'one edit' : `${edits.length} edits`;
    return {
      content: `Replaced ${passages} in ${file.path} with ${made}.${snippet(text, first, last)}`,
      notes,
      facts: {
        path: file.path,
        edits: edits.length,
        replaced,
        linesAdded: change.added,
        linesRemoved: change.removed,
        diffDigest: change.digest,
        digest: stamp.digest,
      },
    };
  },
});

const applyNamed = (path: string, text: string, edit: TextEdit, label: string): AppliedEdit => {
  try {
    return applyEdit(path, text, edit);
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    throw new ToolFailure(`${label} failed, so nothing was changed: ${error.message}`);
  }
};
