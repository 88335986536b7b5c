import { describe, expect, test } from 'vitest';
import { treeSpending } from '../../../src/actors/session/tree-spending.js';
import { RunUsage } from '../../../src/context/budget/run-usage.js';
import { History } from '../../../src/context/history/history.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { StorageError } from '../../../src/protocol/skein-error.js';

const MODEL = 'claude-sonnet-5-5';

const paid = (agent: string, cost: number): SwarmEvent => ({
  v: 1,
  seq: 1,
  ts: 1,
  swarm: 's_1',
  agent,
  parent: null,
  type: 'turn.ended',
  cites: { seq: 1 },
  model: MODEL,
  usage: { ...NO_USAGE, output: 1 },
  cost,
});

/** Tree spending of a lead that has spent 2, with these events in the index. */
const openedWith = async (events: () => AsyncIterable<SwarmEvent>, hasChildren: boolean) => {
  const history = new History();
  history.spent.count({ model: MODEL, usage: { ...NO_USAGE, output: 1 }, cost: 2 });
  if (hasChildren) history.relations.isParent = true;
  const usage = new RunUsage('a_1', history.currentRun);
  const tree = await treeSpending({ events }, { id: 's_1', lead: 'a_1' }, history, usage);
  return { tree, history };
};

describe('treeSpending', () => {
  test('includes the earlier costs of all agents, and counts on', async () => {
    const { tree, history } = await openedWith(async function* () {
      yield paid('a_1', 2);
      yield paid('a_2', 4);
      yield paid('a_3', 8);
    }, true);
    expect([tree.cost, tree.usage.output]).toEqual([14, 3]);
    history.spent.count({ model: MODEL, usage: NO_USAGE, cost: 16 });
    expect([tree.cost, history.spent.cost]).toEqual([30, 18]);
  });

  test('does not read the index if the lead never had an agent', async () => {
    const { tree } = await openedWith(() => {
      throw new Error('read');
    }, false);
    expect(tree.cost).toBe(2);
  });

  test('uses the events before the damage if the index cannot be read', async () => {
    const { tree } = await openedWith(async function* () {
      yield paid('a_2', 4);
      throw new StorageError('damaged');
    }, true);
    expect(tree.cost).toBe(6);
  });
});
