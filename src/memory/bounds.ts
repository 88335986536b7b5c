/**
 * How much of a repository's words is taken in. Whoever wrote the files may wish us ill, so each bound
 * is far above what people write and far below what hurts; reaching one is a notice.
 */

/** A file of more bytes is left out whole. */
export const LARGEST_FILE = 1024 * 1024;
/** Characters from which people are told that a file takes much room. */
export const LARGE_FILE = 40_000;

/** Of each layer, so that a project cannot crowd out what its user wrote. */
export const MOST_FILES = 250;
export const MOST_CHARACTERS = 400_000;
/** Paths that are looked up: rules and includes, there or not. */
export const MOST_LOOKUPS = 3_000;
/** Characters that are read as Markdown, which costs more than reading. */
export const MOST_LEXED = 256 * 1024;

/** A longer file is loaded, but not read as Markdown. */
export const LARGEST_LEXED = 64 * 1024;
/** A longer paragraph is not searched for includes. */
export const LARGEST_PARAGRAPH = 8 * 1024;
/** Quotes and lists inside one another. */
export const DEEPEST_NESTING = 16;

/** A file that includes one that includes one: what is found has depth 0, and 5 is too deep. */
export const DEEPEST_INCLUDE = 5;
export const LONGEST_PATH = 4_096;

/** Directories below the working directory that are looked into because something in them was touched. */
export const MOST_NESTED = 1_000;
/** Directories from the working directory up. */
export const MOST_DIRECTORIES = 128;
/** Names in all the directories below one directory of rules. */
export const MOST_ENTRIES = 20_000;
export const MOST_RULE_DIRECTORIES = 500;
export const DEEPEST_RULES = 8;

/** Characters of front matter. */
export const LARGEST_FRONT_MATTER = 4_096;
export const MOST_PATTERNS = 64;
export const LONGEST_PATTERN = 512;
/** Comparisons of characters and names when rules for touched files are sought: a fifth of a second. */
export const MOST_COMPARISONS = 20_000_000;

export const MOST_NOTICES = 50;
