/** Glob: finds files by name, the newest first. */
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool, type ToolContext, ToolFailure } from '../../protocol/tools/tool.js';
import {
  displayPath,
  explainSearchError,
  protectedFilesNote,
  SEARCH_TIMEOUT_MS,
  searchNotes,
  searchRoot,
  withNotes,
} from './search-notes.js';

const MAX_FILES = 100;
/** More files than are shown, because permission rules may hide some. */
const KEPT_FILES = 1_000;

const PROMPT = `Finds files by name and lists them, the newest first.

- "*.ts" matches at any depth; a pattern with a slash, "src/**/*.test.{ts,tsx}", starts at path.
- Left out: files in .gitignore, and hidden files unless the pattern has their dot: ".github/**". Links are not followed.
- Up to ${MAX_FILES} files are shown, and how many there are in all.`;

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
      .describe('Directory to search; default: the working directory.'),
  }),
  describe: ({ pattern, path }) => `Glob ${pattern}${path === undefined ? '' : ` in ${path}`}`,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  subject: ({ path = '.' }) => ({ action: 'read', target: path }),
  interruptBehavior: 'cancel',
  async call({ pattern, path }, context) {
    const root = searchRoot(path, context);
    const { files, total, end } = await explainSearchError(
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
      ...(hidden > 0 ? [protectedFilesNote(hidden)] : []),
      ...searchNotes(end),
    ];
    const lines = shown.map((file) => displayPath(file, context.cwd));
    const text =
      lines.length === 0 ? `No file below ${root} matches ${pattern}.` : lines.join('\n');
    return {
      content: withNotes(text, notes),
      facts: { path: root, files: total, leftOut: hidden },
    };
  },
});

/** Checks permission only for as many files as the list takes. */
const choose = (files: readonly string[], { mayRead }: ToolContext) => {
  const shown: string[] = [];
  let hidden = 0;
  for (const file of files) {
    if (shown.length === MAX_FILES) break;
    if (mayRead(file)) shown.push(file);
    else hidden += 1;
  }
  return { shown, hidden };
};

/**
 * Makes an absolute pattern relative to the root. Throws ToolFailure if it is not below the root.
 */
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
