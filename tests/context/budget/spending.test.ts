import { describe, expect, test } from 'vitest';
import { Spending } from '../../../src/context/budget/spending.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';

const request = (model: string, output: number, cost: number | null) => ({
  model,
  usage: { ...NO_USAGE, output },
  cost,
});

describe('the spending of an agent', () => {
  test('is added to the total from the moment it joins the total', () => {
    const [total, lead, child] = [new Spending(), new Spending(), new Spending()];
    lead.count(request('m', 10, 1));
    total.add(lead);
    for (const spending of [lead, child]) spending.joins(total);
    lead.count(request('m', 5, 2));
    child.count(request('n', 7, 4));
    expect([total.cost, total.usage.output]).toEqual([7, 22]);
    expect([lead.cost, child.cost]).toEqual([3, 4]);
    expect([...total.byModel].map(([model, { cost }]) => [model, cost])).toEqual([
      ['m', 3],
      ['n', 4],
    ]);
  });

  test('is unknown in the total as soon as a part is unknown', () => {
    const [total, child] = [new Spending(), new Spending()];
    child.joins(total);
    child.count(request('m', 1, null));
    total.count(request('m', 1, 1));
    expect([total.cost, total.usage.output]).toEqual([null, 2]);
  });
});
