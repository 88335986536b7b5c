/** The lines that are drawn in front of the names of a tree. */

/** One for each, in order; everybody comes behind its parent. */
export const branchesOf = (
  nodes: readonly { readonly depth: number }[],
  unicode: boolean,
): readonly string[] => {
  const [down, fork, last] = ['│ ', '├─', '└─'];
  const above: boolean[] = [];
  const branches: string[] = [];
  // From the end: whether a sibling follows is known there.
  for (const { depth } of nodes.toReversed()) {
    const level = Math.max(0, depth);
    const isTooDeep = level > DEEPEST;
    const stems = Array.from({ length: isTooDeep ? DEEPEST : Math.max(0, level - 1) }, (_, at) =>
      above[at + 1] === true ? down : '  ',
    ).join('');
    if (isTooDeep) {
      branches.push(`${stems}»${Math.min(level, MOST_DEPTH)} `);
      continue;
    }
    const goesOn = above[level] === true;
    branches.push(level === 0 ? '' : `${stems}${goesOn ? fork : last}`);
    above.length = level + 1;
    above[level] = true;
  }
  const drawn = branches.toReversed();
  return unicode ? drawn : drawn.map(inAscii);
};

/** Deeper ones do not go further to the right: how deep they are is written there. */
const DEEPEST = 8;
const MOST_DEPTH = 999;

/** The same where a terminal has no lines to draw with. */
export const inAscii = (branch: string): string =>
  branch.replaceAll('│', '|').replaceAll('├─', '|-').replaceAll('└─', '`-').replaceAll('»', '>');
