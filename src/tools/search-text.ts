/** Finds text in files by a regular expression. */
import { z } from 'zod';
import type { SearchHit } from '../protocol/search.js';
import { defineTool } from '../protocol/tool.js';
import { HitPage, type OutputMode } from './hit-page.js';
import {
  orExplainSearch,
  SEARCH_TIMEOUT_MS,
  searchNotes,
  startOfSearch,
  withNotes,
} from './search-report.js';
import { shortLine } from './truncation.js';

const DEFAULT_LIMIT = 250;
const LARGEST_LIMIT = 10_000;
const LARGEST_OFFSET = 1_000_000;
const MOST_CONTEXT = 1_000;

const PROMPT = `Searches the contents of files with a regular expression.

- The dialect is that of ripgrep: "log.*Error", "function\\\\s+\\\\w+". A backslash makes { } ( ) [ ] . literal. No look-around, no backreferences.
- output_mode: "files_with_matches" (the default) lists paths, "content" shows the lines, "count" how many lines match in each file.
- Narrow the search with path, with glob ("*.ts" at any depth, "src/**/*.ts" from path, "!*.test.ts" all but these) or with type ("ts", "py", "rust").
- A match stays within one line, unless multiline is true; then a dot matches a line break too.
- Passed over: what .gitignore names, hidden files (unless glob spells their dot: ".github/**"), binary files, links, and files that rules protect, such as .env and keys: Read asks the user about those.
- Results are in the order of paths. Up to ${DEFAULT_LIMIT} are shown; go on with offset, or set head_limit.`;

const count = (most: number) => z.int().min(0).max(most).optional();

export const searchText = defineTool({
  name: 'Grep',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    pattern: z.string().min(1).max(10_000).describe('The regular expression to look for.'),
    path: z
      .string()
      .min(1)
      .optional()
      .describe('The file or directory to search; the working directory if left out.'),
    glob: z.string().min(1).max(4_096).optional().describe('Only files whose path matches.'),
    type: z.string().min(1).max(100).optional().describe('Only files of this kind, such as ts.'),
    output_mode: z
      .enum(['content', 'files_with_matches', 'count'])
      .optional()
      .describe('What to show; files_with_matches if left out.'),
    '-A': count(MOST_CONTEXT).describe('Lines to show after each match, in content mode.'),
    '-B': count(MOST_CONTEXT).describe('Lines to show before each match, in content mode.'),
    '-C': count(MOST_CONTEXT).describe('Lines to show around each match, in content mode.'),
    '-n': z.boolean().optional().describe('Show line numbers in content mode; true if left out.'),
    '-i': z.boolean().optional().describe('Do not tell capital letters from small ones.'),
    multiline: z.boolean().optional().describe('Let a match run over several lines.'),
    head_limit: z
      .int()
      .min(0)
      .max(LARGEST_LIMIT)
      .optional()
      .describe(`How many lines or files to show; ${DEFAULT_LIMIT} if left out or 0.`),
    offset: count(LARGEST_OFFSET).describe('How many lines or files to pass over first.'),
  }),
  describe: ({ pattern, path }) =>
    `Grep ${shortLine(JSON.stringify(pattern), 120)}${path === undefined ? '' : ` in ${path}`}`,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  subject: ({ path = '.' }) => ({ action: 'read', target: path }),
  interruptBehavior: 'cancel',
  async call(input, context) {
    const { pattern, glob, type, output_mode = 'files_with_matches', offset = 0 } = input;
    const root = startOfSearch(input.path, context);
    const limit = input.head_limit || DEFAULT_LIMIT;
    const around = input['-C'] ?? 0;
    const [before, after] = [input['-B'] ?? around, input['-A'] ?? around];
    const page = new HitPage(output_mode, {
      ...{ offset, limit, cwd: context.cwd, numbers: input['-n'] ?? true },
      separates: before + after > 0,
    });
    const end = await orExplainSearch(
      context.search.grep({
        ...{ root, pattern, glob, type, mode: MODES[output_mode] },
        ...{ before, after },
        ignoreCase: input['-i'] ?? false,
        multiline: input.multiline ?? false,
        most: offset + limit + 1,
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
