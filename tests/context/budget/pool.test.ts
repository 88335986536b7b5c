import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Pool } from '../../../src/context/budget/pool.js';

type Step =
  | { readonly do: 'share' | 'reserve' | 'close'; readonly at: number; readonly units: number }
  | { readonly do: 'settle'; readonly at: number; readonly units: number };

const steps = fc.array(
  fc.record({
    do: fc.constantFrom<Step['do']>('share', 'reserve', 'reserve', 'settle', 'settle', 'close'),
    at: fc.nat(1_000),
    units: fc.nat(60),
  }),
  { maxLength: 80 },
);

interface Node {
  readonly pool: Pool;
  readonly parent: Node | undefined;
  readonly cap: number;
  used: number;
}

/** Runs the steps. Skips a reservation if the pool is closed or has too little left. */
const runSteps = (
  cap: number,
  path: readonly Step[],
  check: (nodes: readonly Node[]) => void,
): void => {
  const nodes: Node[] = [{ pool: new Pool(cap), parent: undefined, cap, used: 0 }];
  const open: { node: Node; units: number }[] = [];
  for (const step of path) {
    const node = nodes[step.at % nodes.length] as Node;
    const { pool } = node;
    if (step.do === 'share') {
      const child = pool.share(step.units);
      nodes.push({ pool: child, parent: node, cap: child.cap, used: 0 });
    } else if (step.do === 'reserve' && !pool.isClosed && step.units <= pool.left) {
      pool.reserve(step.units);
      open.push({ node, units: step.units });
    } else if (step.do === 'settle' && open.length > 0) {
      const [reservation] = open.splice(step.at % open.length, 1);
      reservation?.node.pool.settle(reservation.units, step.units);
      for (let above = reservation?.node; above !== undefined; above = above.parent)
        above.used += step.units;
    } else if (step.do === 'close') pool.close();
    check(nodes);
  }
};

const sum = (numbers: readonly number[]) => numbers.reduce((total, value) => total + value, 0);

describe('a tree of pools', () => {
  test('accounts for every unit of every pool in any order of steps', () => {
    fc.assert(
      fc.property(fc.nat(200), steps, (cap, path) => {
        runSteps(cap, path, (nodes) => {
          for (const { pool } of nodes) {
            expect(pool.used + pool.reserved + pool.allocated + pool.left).toBe(pool.cap);
          }
          const [root] = nodes;
          const free = nodes.slice(1).map(({ pool }) => Math.max(0, pool.left));
          const taken = nodes.map(({ pool }) => pool.used + pool.reserved);
          if (root?.pool.isClosed) return;
          expect(sum(taken) + sum(free) + (root?.pool.left ?? 0)).toBe(cap);
        });
      }),
    );
  });

  test('has the unused units again after all shares are closed', () => {
    fc.assert(
      fc.property(fc.nat(200), steps, (cap, path) => {
        let last: readonly Node[] = [];
        runSteps(cap, path, (nodes) => {
          last = nodes;
        });
        for (const { pool } of last.slice(1)) pool.close();
        const [root] = last;
        if (root === undefined || root.pool.isClosed) return;
        expect(root.pool.left).toBe(cap - root.used - sum(last.map(({ pool }) => pool.reserved)));
      }),
    );
  });

  test('allocates at most the rest, and reports the overshoot', () => {
    const root = new Pool(10);
    const child = root.share(30);
    expect([child.cap, root.left, root.share(1).cap]).toEqual([10, 0, 0]);
    child.reserve(4);
    child.settle(4, 13);
    expect([child.overshoot, root.overshoot, root.left]).toEqual([3, 3, -3]);
    child.close();
    expect([root.left, root.overshoot]).toEqual([-3, 3]);
  });

  test('has the full amount after a renewal, without allocated units', () => {
    const root = new Pool(5);
    root.reserve(5);
    root.settle(5, 5);
    root.renew(5);
    root.share(2);
    expect([root.left, root.used, root.overshoot]).toEqual([3, 5, 0]);
  });
});
