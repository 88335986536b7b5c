/** Draws the branch lines in front of the names of a tree. */

/** Returns the branch prefix of each node. Nodes are in depth-first order, each behind its parent. */
export const treeBranches = (
  nodes: readonly { readonly depth: number }[],
  isUnicode: boolean,
): readonly string[] => {
  const [down, fork, last] = ['│ ', '├─', '└─'];
  const isLevelOpen: boolean[] = [];
  const branches: string[] = [];
  // Backwards, because a node's branch depends on whether a sibling follows.
  for (const { depth } of nodes.toReversed()) {
    const level = Math.max(0, depth);
    const isTooDeep = level > MAX_INDENT;
    const stems = Array.from(
      { length: isTooDeep ? MAX_INDENT : Math.max(0, level - 1) },
      (_, at) => (isLevelOpen[at + 1] === true ? down : '  '),
    ).join('');
    if (isTooDeep) {
      branches.push(`${stems}»${Math.min(level, MAX_SHOWN_DEPTH)} `);
      continue;
    }
    const hasNextSibling = isLevelOpen[level] === true;
    branches.push(level === 0 ? '' : `${stems}${hasNextSibling ? fork : last}`);
    isLevelOpen.length = level + 1;
    isLevelOpen[level] = true;
  }
  const drawn = branches.toReversed();
  return isUnicode ? drawn : drawn.map(asciiBranch);
};

/** Maximum indentation, in levels. Deeper nodes show their depth as a number instead. */
const MAX_INDENT = 8;
const MAX_SHOWN_DEPTH = 999;

/** Converts a branch prefix to ASCII. */
export const asciiBranch = (branch: string): string =>
  branch.replaceAll('│', '|').replaceAll('├─', '|-').replaceAll('└─', '`-').replaceAll('»', '>');
