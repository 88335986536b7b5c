import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Pool } from '../../../src/context/budget/pool.js';

type Step =
  | { readonly do: 'share' | 'hold' | 'close'; readonly at: number; readonly units: number }
  | { readonly do: 'settle'; readonly at: number; readonly units: number };

const steps = fc.array(
  fc.record({
    do: fc.constantFrom<Step['do']>('share', 'hold', 'hold', 'settle', 'settle', 'close'),
    at: fc.nat(1_000),
    units: fc.nat(60),
  }),
  { maxLength: 80 },
);

interface Node {
  readonly pool: Pool;
  readonly parent: Node | undefined;
  readonly granted: number;
  used: number;
}

/** Takes the steps one by one; nothing is held of a pool that has less, and closed ones hold nothing. */
const walk = (cap: number, path: readonly Step[], look: (nodes: readonly Node[]) => void): void => {
  const nodes: Node[] = [{ pool: new Pool(cap), parent: undefined, granted: cap, used: 0 }];
  const open: { node: Node; units: number }[] = [];
  for (const step of path) {
    const node = nodes[step.at % nodes.length] as Node;
    const { pool } = node;
    if (step.do === 'share') {
      const child = pool.share(step.units);
      nodes.push({ pool: child, parent: node, granted: child.cap, used: 0 });
    } else if (step.do === 'hold' && !pool.isClosed && step.units <= pool.left) {
      pool.hold(step.units);
      open.push({ node, units: step.units });
    } else if (step.do === 'settle' && open.length > 0) {
      const [held] = open.splice(step.at % open.length, 1);
      held?.node.pool.settle(held.units, step.units);
      for (let above = held?.node; above !== undefined; above = above.parent)
        above.used += step.units;
    } else if (step.do === 'close') pool.close();
    look(nodes);
  }
};

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

describe('a tree of pools', () => {
  test('accounts for every unit of every pool, whatever happens in which order', () => {
    fc.assert(
      fc.property(fc.nat(200), steps, (cap, path) => {
        walk(cap, path, (nodes) => {
          for (const { pool } of nodes) {
            expect(pool.used + pool.reserved + pool.promised + pool.left).toBe(pool.cap);
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

  test('has exactly what nobody used again when all are closed', () => {
    fc.assert(
      fc.property(fc.nat(200), steps, (cap, path) => {
        let last: readonly Node[] = [];
        walk(cap, path, (nodes) => {
          last = nodes;
        });
        for (const { pool } of last.slice(1)) pool.close();
        const [root] = last;
        if (root === undefined || root.pool.isClosed) return;
        expect(root.pool.left).toBe(cap - root.used - sum(last.map(({ pool }) => pool.reserved)));
      }),
    );
  });

  test('sets no more aside than there is, and tells of what went beyond it', () => {
    const root = new Pool(10);
    const child = root.share(30);
    expect([child.cap, root.left, root.share(1).cap]).toEqual([10, 0, 0]);
    child.hold(4);
    child.settle(4, 13);
    expect([child.overshoot, root.overshoot, root.left]).toEqual([3, 3, -3]);
    child.close();
    expect([root.left, root.overshoot]).toEqual([-3, 3]);
  });

  test('has as much again after a renewal, without what is still set aside', () => {
    const root = new Pool(5);
    root.hold(5);
    root.settle(5, 5);
    root.renew(5);
    root.share(2);
    expect([root.left, root.used, root.overshoot]).toEqual([3, 5, 0]);
  });
});
