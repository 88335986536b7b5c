/**
 * Tells whether a command line is one plain program with plain arguments.
 *
 * A rule such as `Bash(git status:*)` looks at how a command begins, so whatever can start a second
 * program, write to a file or change what a word means must be shown to a person. This reads
 * characters and quotes only, and takes anything it does not know for compound.
 */

export const isCompoundCommand = (command: string): boolean => {
  const line = command.trim();
  if (/^(\$|!(\s|$)|[A-Za-z_]\w*(\[[^\]]*\])?\+?=)/.test(line)) return true;
  let at = 0;
  while (at < line.length) {
    const next = skipWord(line, at);
    if (next === undefined) return true;
    at = next;
  }
  return false;
};

const OPERATORS = new Set(';&|`<>(){}\n\r'.split(''));

/**
 * The position after the next character, escape or quoted stretch; undefined when it is compound.
 * A quote inside of a comment is none, so a comment could hide a line: it counts as compound.
 */
const skipWord = (line: string, at: number): number | undefined => {
  const character = line[at];
  if (character === '#' && /^$|\s/.test(line.slice(Math.max(0, at - 1), at))) return undefined;
  if (character === "'") return afterSingleQuotes(line, at);
  if (character === '"') return afterDoubleQuotes(line, at);
  if (character === '\\') return afterEscape(line, at);
  if (character === '$') return isPlainVariable(line, at) ? at + 1 : undefined;
  return OPERATORS.has(character ?? '') ? undefined : at + 1;
};

const afterSingleQuotes = (line: string, at: number): number | undefined => {
  const end = line.indexOf("'", at + 1);
  return end === -1 ? undefined : end + 1;
};

const afterDoubleQuotes = (line: string, at: number): number | undefined => {
  for (let inside = at + 1; inside < line.length; inside += 1) {
    const character = line[inside];
    if (character === '"') return inside + 1;
    if (character === '`') return undefined;
    if (character === '$' && !isPlainVariable(line, inside)) return undefined;
    if (character === '\\') inside += 1;
  }
  return undefined;
};

const afterEscape = (line: string, at: number): number | undefined => {
  const escaped = line[at + 1];
  return escaped === undefined || escaped === '\n' ? undefined : at + 2;
};

/** `$HOME`, or a dollar sign that means nothing; not `$(…)`, `${…}`, `$'…'` or `$[…]`. */
const isPlainVariable = (line: string, at: number) => !/^[({['"`]/.test(line.slice(at + 1, at + 2));
