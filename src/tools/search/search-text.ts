/** Grep: finds text in files by a regular expression. */
import { z } from 'zod';
import type { SearchHit } from '../../protocol/tools/file-search.js';
import { defineTool } from '../../protocol/tools/tool.js';
import { truncateLine } from '../text/truncate-text.js';
import { HitPage, type OutputMode } from './hit-page.js';
import {
  explainSearchError,
  SEARCH_TIMEOUT_MS,
  searchNotes,
  searchRoot,
  withNotes,
} from './search-notes.js';

const DEFAULT_LIMIT = 250;
const MAX_LIMIT = 10_000;
const MAX_OFFSET = 1_000_000;
const MAX_CONTEXT = 1_000;

const PROMPT = `Searches the contents of files with a regular expression.

- The syntax is that of ripgrep: "log.*Error", "function\\\\s+\\\\w+". A backslash makes { } ( ) [ ] . literal. No look-around, no backreferences.
- output_mode: "files_with_matches" (the default) lists paths, "content" shows lines, "count" counts matching lines per file.
- Narrow it with path, glob ("*.ts" at any depth, "src/**/*.ts" from path, "!*.test.ts" all but these) or type ("ts", "py", "rust").
- A match stays within one line unless multiline is true; then a dot matches a line break too.
- Skipped: files in .gitignore, hidden files (unless glob has their dot), binary files, links, and protected files such as .env and keys: Read asks the user about those.
- Results are sorted by path, up to ${DEFAULT_LIMIT}; continue with offset, or set head_limit.`;

const count = (max: number) => z.int().min(0).max(max).optional();

export const searchText = defineTool({
  name: 'Grep',
  kind: 'builtin',
  prompt: PROMPT,
  mentions: [{ of: ['Read'], text: ': Read asks the user about those', instead: '' }],
  input: z.strictObject({
    pattern: z.string().min(1).max(10_000).describe('The regular expression.'),
    path: z
      .string()
      .min(1)
      .optional()
      .describe('File or directory; default: the working directory.'),
    glob: z.string().min(1).max(4_096).optional().describe('Only paths that match.'),
    type: z.string().min(1).max(100).optional().describe('Only files of this kind.'),
    output_mode: z
      .enum(['content', 'files_with_matches', 'count'])
      .optional()
      .describe('What to show.'),
    '-A': count(MAX_CONTEXT).describe('Lines of content to show after each match.'),
    '-B': count(MAX_CONTEXT).describe('Before each match.'),
    '-C': count(MAX_CONTEXT).describe('Around each match.'),
    '-n': z.boolean().optional().describe('Line numbers in content; default true.'),
    '-i': z.boolean().optional().describe('Ignore case.'),
    multiline: z.boolean().optional().describe('Match over several lines.'),
    head_limit: z
      .int()
      .min(0)
      .max(MAX_LIMIT)
      .optional()
      .describe('How many lines or files to show.'),
    offset: count(MAX_OFFSET).describe('How many to skip first.'),
  }),
  describe: ({ pattern, path }) =>
    `Grep ${truncateLine(JSON.stringify(pattern), 120)}${path === undefined ? '' : ` in ${path}`}`,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  subject: ({ path = '.' }) => ({ action: 'read', target: path }),
  interruptBehavior: 'cancel',
  async call(input, context) {
    const { pattern, glob, type, output_mode = 'files_with_matches', offset = 0 } = input;
    const root = searchRoot(input.path, context);
    const limit = input.head_limit || DEFAULT_LIMIT;
    const contextLines = input['-C'] ?? 0;
    const [before, after] = [input['-B'] ?? contextLines, input['-A'] ?? contextLines];
    const page = new HitPage(output_mode, {
      offset,
      limit,
      cwd: context.cwd,
      numbers: input['-n'] ?? true,
      separates: before + after > 0,
    });
    const end = await explainSearchError(
      context.search.grep({
        root,
        pattern,
        glob,
        type,
        mode: MODES[output_mode],
        before,
        after,
        ignoreCase: input['-i'] ?? false,
        multiline: input.multiline ?? false,
        maxHits: offset + limit + 1,
        signal: context.signal,
        timeoutMs: SEARCH_TIMEOUT_MS,
        accepts: context.mayRead,
        onHit: (hit: SearchHit) => page.add(hit),
      }),
    );
    const notes = [...page.notes(), ...searchNotes(end)];
    const { shown, text } = page;
    return {
      content: withNotes(text === '' ? page.nothing(root) : text, notes),
      facts: { path: root, mode: output_mode, shown, complete: end.reason === 'complete' },
    };
  },
});

const MODES = {
  content: 'lines',
  files_with_matches: 'files',
  count: 'count',
} as const satisfies Record<OutputMode, string>;
