import { expect, test } from 'vitest';
import { Roster } from '../../src/actors/roster.js';

const tag = (id: string, parent: string) => ({
  ...({ id, parent, kind: 'sync', type: null, description: 'x', call: 'c_1', depth: 1 } as const),
});

test('agents of a damaged index that are parents of each other are below nobody', () => {
  const roster = new Roster();
  const one = roster.add(tag('a_1', 'a_2'), 'lost', 0);
  roster.add(tag('a_2', 'a_1'), 'lost', 0);
  expect(roster.isBelow(one, 'a_lead')).toBe(false);
});
