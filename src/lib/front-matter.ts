/** The lines between two lines of dashes that a Markdown file may begin with. */

export interface FrontMatterParts {
  /** Undefined when the file does not begin with one. */
  readonly head: string | undefined;
  readonly body: string;
}

/** Lines end with a line feed. A first line of dashes without a second begins nothing: all is body. */
export const splitFrontMatter = (text: string): FrontMatterParts => {
  const opening = /^---[ \t]*\n/.exec(text)?.[0].length;
  if (opening === undefined) return { head: undefined, body: text };
  const closing = /^---[ \t]*(?:\n|$)/gm;
  closing.lastIndex = opening;
  const end = closing.exec(text);
  if (end === null) return { head: undefined, body: text };
  return { head: text.slice(opening, end.index), body: text.slice(end.index + end[0].length) };
};

const MOST_BRACKETS = 128;
const MOST_MARKS_OF_A_LINE = 32;

/**
 * Whether YAML may be nested so deeply that it must not be parsed. The parser calls itself for each
 * level, and near the end of the stack it is not an error that can be caught but the end of the process.
 */
export const isDeepYaml = (source: string): boolean =>
  (source.match(/[[{]/g)?.length ?? 0) > MOST_BRACKETS ||
  source.split('\n').some((line) => {
    const marks = line.match(/[-?:](?=\s|$)/g)?.length ?? 0;
    return marks > MOST_MARKS_OF_A_LINE || /^\s{101}/.test(line);
  });
