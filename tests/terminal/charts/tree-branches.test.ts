import { describe, expect, test } from 'vitest';
import { treeBranches } from '../../../src/terminal/charts/tree-branches.js';

const drawn = (depths: readonly number[], unicode = true) =>
  treeBranches(
    depths.map((depth) => ({ depth })),
    unicode,
  );

describe('the branches of a tree', () => {
  test('show the parent of each node', () => {
    expect(drawn([0, 1, 2, 2, 1])).toEqual(['', '├─', '│ ├─', '│ └─', '└─']);
    expect(drawn([0, 1, 2, 1], false)).toEqual(['', '|-', '| `-', '`-']);
  });

  test('show the depth as a number beyond the last drawn level', () => {
    const line = Array.from({ length: 12 }, (_, depth) => depth);
    const at = (depth: number) => ' '.repeat(2 * (depth - 1));
    expect(drawn(line).slice(7)).toEqual([
      `${at(7)}└─`,
      `${at(8)}└─`,
      `${at(9)}»9 `,
      `${at(9)}»10 `,
      `${at(9)}»11 `,
    ]);
    // A node at the last level is a sibling of the next node at that level, not of its own children.
    const [first, child, second] = drawn([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8]).slice(8);
    expect([first, child, second]).toEqual([`${at(8)}├─`, `${at(8)}│ »9 `, `${at(8)}└─`]);
    expect(drawn([1e308], false)).toEqual([`${at(9)}>999 `]);
  });
});
