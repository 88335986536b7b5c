interface FrontMatterParts {
  /** Lines between the two lines of dashes. Undefined if the file has no front matter. */
  readonly head: string | undefined;
  readonly body: string;
}

/**
 * Splits a Markdown file into front matter and body. Lines must end with a line feed. Without a closing
 * line of dashes the whole text is body.
 */
export const splitFrontMatter = (text: string): FrontMatterParts => {
  const opening = /^---[ \t]*\n/.exec(text)?.[0].length;
  if (opening === undefined) return { head: undefined, body: text };
  const closing = /^---[ \t]*(?:\n|$)/gm;
  closing.lastIndex = opening;
  const end = closing.exec(text);
  if (end === null) return { head: undefined, body: text };
  return { head: text.slice(opening, end.index), body: text.slice(end.index + end[0].length) };
};
