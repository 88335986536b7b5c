/**
 * Limits on the memory files that a session loads. A hostile repository may provide the files, so
 * each limit is far above normal use and far below harmful sizes. A file or rule beyond a limit is
 * reported in a notice.
 */
export const MEMORY_LIMITS = {
  /** Bytes of one file. A larger file is left out. */
  fileBytes: 1024 * 1024,
  /** Characters from which a file is reported as large. */
  largeFileCharacters: 40_000,

  /** Files per layer. Limits are per layer, so a project cannot displace the user's files. */
  files: 250,
  /** Characters per layer. */
  characters: 400_000,
  /** Paths looked up per layer: rules and includes, existing or not. */
  lookups: 3_000,
  /** Characters per layer that are parsed as Markdown, because parsing costs more than reading. */
  lexedCharacters: 256 * 1024,

  /** Characters of one file that is parsed as Markdown. A longer file is loaded unparsed. */
  lexedFileCharacters: 64 * 1024,
  /** Characters of one paragraph that is searched for includes. */
  paragraphCharacters: 8 * 1024,
  /** Levels of nested quotes and lists. */
  nesting: 16,

  /** Depth of nested includes. A found file has depth 0, a file at depth 5 is not read. */
  includeDepth: 5,
  /** Characters of an included path. */
  pathLength: 4_096,

  /** Directories below the working directory that are searched because a file in them was touched. */
  nestedDirectories: 1_000,
  /** Directories searched from the working directory upwards. */
  ancestors: 128,
  /** Directory entries below one rules directory. */
  ruleEntries: 20_000,
  /** Directories below one rules directory. */
  ruleDirectories: 500,
  /** Depth of directories below one rules directory. */
  ruleDepth: 8,

  /** Characters of front matter. */
  frontMatterCharacters: 4_096,
  /** Path patterns of one rule, braces expanded. */
  patterns: 64,
  /** Characters of one path pattern. */
  patternLength: 512,
  /** Character and name comparisons when matching rules to touched files, about 0.2 seconds. */
  comparisons: 20_000_000,

  notices: 50,
} as const;
