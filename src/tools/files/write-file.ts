/** Write: creates or replaces a file. An unread file is replaced only if a person agrees. */
import { z } from 'zod';
import { defineTool, ToolFailure } from '../../protocol/tools/tool.js';
import { encodeFileText } from '../file-access/file-text.js';
import { explainFileError, locateFile, pathField } from '../file-access/locate-file.js';
import { countLines } from '../text/line-page.js';

const PROMPT = `Writes a whole file: creates it, with the directories it needs, or replaces everything in it.

- An existing file must have been read first and not have changed since, unless the user agrees to this very call.
- To change part of a file use Edit.
- The content is written exactly as given: end it with a line break where the file should have one.`;

export const writeFile = defineTool({
  name: 'Write',
  kind: 'builtin',
  prompt: PROMPT,
  mentions: [{ of: ['Edit'], text: '\n- To change part of a file use Edit.', instead: '' }],
  input: z.strictObject({
    file_path: pathField('The file to write'),
    content: z.string().describe('All of its new content.'),
  }),
  describe: ({ file_path }) => `Write ${file_path}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: ({ file_path }) => ({ action: 'write', target: file_path }),
  interruptBehavior: 'block',
  async call({ file_path, content }, context) {
    if (/\/\.{0,2}$/.test(file_path)) {
      throw new ToolFailure(`${file_path} names a directory. Give the path of a file in it.`);
    }
    const path = locateFile(file_path, context);
    const bytes = encodeFileText(content, 'content');
    const existing = await explainFileError(context.workspace.stat(path));
    if (existing !== undefined && existing.kind !== 'file') {
      throw new ToolFailure(
        `${path} is not a regular file (${existing.kind}). Choose another path.`,
      );
    }
    const lastRead = context.readStamp(path);
    if (existing !== undefined && lastRead === undefined && !context.approved) {
      throw new ToolFailure(`${path} exists and you have not read it. Read it first, then write.`);
    }
    // Without a stamp to compare, a person has agreed to lose the current contents.
    const expected = existing === undefined ? 'absent' : lastRead;
    const stamp = await explainFileError(context.workspace.write(path, bytes, expected));
    const lines = countLines(content);
    return {
      content: `${existing === undefined ? 'Created' : 'Replaced'} ${path} (${lines} ${lines === 1 ? 'line' : 'lines'}).`,
      notes: [{ type: 'file.seen', path, stamp }],
      facts: {
        path,
        created: existing === undefined,
        lines,
        bytes: stamp.size,
        digest: stamp.digest,
      },
    };
  },
});
