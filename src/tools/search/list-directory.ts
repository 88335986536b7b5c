/** LS: lists a directory, hidden entries included. */
import { z } from 'zod';
import type { ListedEntry } from '../../protocol/tools/file-search.js';
import { defineTool } from '../../protocol/tools/tool.js';
import { printableLine } from '../text/printable-line.js';
import { explainSearchError, searchRoot, withNotes } from './search-notes.js';

const MAX_ENTRIES = 1_000;
const MAX_GLOBS = 100;

const PROMPT = `Lists one directory by name, hidden entries included.

- A directory ends with a slash, a link shows its target, a file its size in bytes.
- Up to ${MAX_ENTRIES} entries are shown. ignore leaves names out: ["*.log", "dist"].`;

export const listDirectory = defineTool({
  name: 'LS',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    path: z
      .string()
      .min(1)
      .optional()
      .describe('Directory to list; default: the working directory.'),
    ignore: z
      .array(z.string().min(1).max(4_096))
      .max(MAX_GLOBS)
      .optional()
      .describe('Globs of names.'),
  }),
  describe: ({ path = '.' }) => `LS ${path}`,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  subject: ({ path = '.' }) => ({ action: 'read', target: path }),
  interruptBehavior: 'cancel',
  async call({ path, ignore = [] }, context) {
    const directory = searchRoot(path, context);
    const { entries, total } = await explainSearchError(
      context.search.list({ directory, ignore, maxEntries: MAX_ENTRIES }),
    );
    const shown = printableLine(directory).replace(/\/?$/, '/');
    const lines = entries.map(lineFor);
    const rest =
      total > entries.length
        ? [`The first ${entries.length} of ${total} entries. Use ignore, or Glob with a pattern.`]
        : [];
    const text = total === 0 ? `${directory} is empty.` : [shown, ...lines].join('\n');
    return {
      content: withNotes(text, rest),
      facts: { path: directory, entries: total },
    };
  },
});

const lineFor = ({ name, kind, size, target }: ListedEntry): string => {
  const shown = printableLine(name);
  if (kind === 'directory') return `  ${shown}/`;
  if (kind === 'link') return `  ${shown} -> ${printableLine(target ?? '?')}`;
  return `  ${shown}${kind === 'file' ? ` (${size})` : ' (neither file nor directory)'}`;
};
