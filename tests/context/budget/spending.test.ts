import { describe, expect, test } from 'vitest';
import { Spending } from '../../../src/context/budget/spending.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';

const request = (model: string, output: number, cost: number | null) => ({
  model,
  usage: { ...NO_USAGE, output },
  cost,
});

describe('what was spent', () => {
  test('is counted in the whole that it belongs to, from the moment it joins', () => {
    const [whole, lead, child] = [new Spending(), new Spending(), new Spending()];
    lead.count(request('m', 10, 1));
    whole.add(lead);
    for (const one of [lead, child]) one.joins(whole);
    lead.count(request('m', 5, 2));
    child.count(request('n', 7, 4));
    expect([whole.cost, whole.usage.output]).toEqual([7, 22]);
    expect([lead.cost, child.cost]).toEqual([3, 4]);
    expect([...whole.byModel].map(([model, { cost }]) => [model, cost])).toEqual([
      ['m', 3],
      ['n', 4],
    ]);
  });

  test('is unknown in the whole as soon as it is in a part', () => {
    const [whole, child] = [new Spending(), new Spending()];
    child.joins(whole);
    child.count(request('m', 1, null));
    whole.count(request('m', 1, 1));
    expect([whole.cost, whole.usage.output]).toEqual([null, 2]);
  });
});
