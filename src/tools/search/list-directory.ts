/** Shows what lies in one directory, hidden files included. */
import { z } from 'zod';
import type { ListedEntry } from '../../protocol/tools/search.js';
import { defineTool } from '../../protocol/tools/tool.js';
import { onOneLine, orExplainSearch, startOfSearch, withNotes } from './search-report.js';

const MOST_ENTRIES = 1_000;
const MOST_GLOBS = 100;

const PROMPT = `Lists one directory by name, hidden entries included.

- A directory ends with a slash, a link shows where it leads, a file its size in bytes.
- Up to ${MOST_ENTRIES} entries are shown. ignore leaves names out: ["*.log", "dist"].`;

export const listDirectory = defineTool({
  name: 'LS',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    path: z
      .string()
      .min(1)
      .optional()
      .describe('Directory to list; the working directory if left out.'),
    ignore: z
      .array(z.string().min(1).max(4_096))
      .max(MOST_GLOBS)
      .optional()
      .describe('Globs of names.'),
  }),
  describe: ({ path = '.' }) => `LS ${path}`,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  subject: ({ path = '.' }) => ({ action: 'read', target: path }),
  interruptBehavior: 'cancel',
  async call({ path, ignore = [] }, context) {
    const directory = startOfSearch(path, context);
    const { entries, total } = await orExplainSearch(
      context.search.list({ directory, ignore, most: MOST_ENTRIES }),
    );
    const shown = onOneLine(directory).replace(/\/?$/, '/');
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
  const shown = onOneLine(name);
  if (kind === 'directory') return `  ${shown}/`;
  if (kind === 'link') return `  ${shown} -> ${onOneLine(target ?? '?')}`;
  return `  ${shown}${kind === 'file' ? ` (${size})` : ' (neither file nor directory)'}`;
};
