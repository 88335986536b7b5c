/** Finds files by their names, the newest first. */
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool, type ToolContext, ToolFailure } from '../../protocol/tools/tool.js';
import {
  leftOut,
  orExplainSearch,
  SEARCH_TIMEOUT_MS,
  searchNotes,
  shownPath,
  startOfSearch,
  withNotes,
} from './search-report.js';

const MOST_FILES = 100;
/** More than are shown, because the rules may take some away. */
const KEPT_FILES = 1_000;

const PROMPT = `Finds files by name and lists them, the newest first.

- "*.ts" matches at any depth; a pattern with a slash, "src/**/*.test.{ts,tsx}", starts at path.
- Left out: what .gitignore names, and hidden files unless the pattern spells their dot: ".github/**". Links are not followed.
- Up to ${MOST_FILES} files are shown, and how many there are in all.`;

export const findFiles = defineTool({
  name: 'Glob',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    pattern: z.string().min(1).max(4_096).describe('A glob for paths.'),
    path: z
      .string()
      .min(1)
      .optional()
      .describe('Directory to search; the working directory if left out.'),
  }),
  describe: ({ pattern, path }) => `Glob ${pattern}${path === undefined ? '' : ` in ${path}`}`,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  subject: ({ path = '.' }) => ({ action: 'read', target: path }),
  interruptBehavior: 'cancel',
  async call({ pattern, path }, context) {
    const root = startOfSearch(path, context);
    const { files, total, end } = await orExplainSearch(
      context.search.find({
        root,
        pattern: belowRoot(pattern, root),
        newest: KEPT_FILES,
        signal: context.signal,
        timeoutMs: SEARCH_TIMEOUT_MS,
      }),
    );
    const { shown, hidden } = choose(files, context);
    const rest = total - hidden - shown.length;
    const notes = [
      ...(rest > 0
        ? [`The newest ${shown.length} of ${total} files. Use a narrower pattern.`]
        : []),
      ...(hidden > 0 ? [leftOut(hidden)] : []),
      ...searchNotes(end),
    ];
    const lines = shown.map((file) => shownPath(file, context.cwd));
    const text =
      lines.length === 0 ? `No file below ${root} matches ${pattern}.` : lines.join('\n');
    return {
      content: withNotes(text, notes),
      facts: { path: root, files: total, leftOut: hidden },
    };
  },
});

/** Asks about no more files than it takes to fill the list. */
const choose = (files: readonly string[], { mayRead }: ToolContext) => {
  const shown: string[] = [];
  let hidden = 0;
  for (const file of files) {
    if (shown.length === MOST_FILES) break;
    if (mayRead(file)) shown.push(file);
    else hidden += 1;
  }
  return { shown, hidden };
};

/** People write absolute patterns too; what they mean must lie below the start all the same. */
const belowRoot = (pattern: string, root: string): string => {
  if (pattern.split('/').includes('..')) {
    throw new ToolFailure(
      'The pattern goes up with "..". Give the directory to start from as path.',
    );
  }
  if (!pattern.startsWith('/')) return pattern;
  const base = join(root, '/');
  if (pattern.startsWith(base) && pattern !== base) return `/${pattern.slice(base.length)}`;
  throw new ToolFailure(
    `The pattern is absolute and not below ${root}. Give its directory as path, and the rest as pattern.`,
  );
};
