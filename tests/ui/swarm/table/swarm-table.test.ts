import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SwarmTable } from '../../../../src/ui/swarm/table/swarm-table.js';
import type { AgentView, SwarmView } from '../../../../src/views/swarm/swarm-view.js';
import {
  agentView,
  asking,
  ended,
  leadView,
  swarmView,
} from '../../../fakes/agents/agent-views.js';
import { ShownSwarms } from '../../../fakes/terminal/shown-swarms.js';

/** A lead with two children. The first child has two children. */
const AGENTS = [
  leadView({ costUsd: 1 }),
  agentView('a_docs', { name: 'docs', costUsd: 2 }),
  agentView('a_deep', { parent: 'a_docs', depth: 2, costUsd: 3, ...asking('rm x') }),
  agentView('a_done', { parent: 'a_docs', depth: 2, costUsd: 4, ...ended('end_turn') }),
  agentView('a_fail', { type: 'tester', costUsd: 5, ...ended('max_turns') }),
];

const tableOf = (...swarms: readonly SwarmView[]) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const source = new ShownSwarms(swarms);
  const table = new SwarmTable(source, undefined, () => Date.now());
  onTestFinished(table.watch(() => {}));
  /** Ids of the rows in a window, each behind signs for selected, folded and context rows. */
  const ids = (height = 100) =>
    table.window(height).map(({ agent, session, isSelected, isContext, hidden }) => {
      const sign = `${isSelected ? '>' : ''}${isContext ? '~' : ''}`;
      const more = hidden.length === 0 ? '' : `+${hidden.length}`;
      return `${sign}${agent ?? session}${more}`;
    });
  return { table, source, ids };
};

const manyAgents = (count: number, more: (at: number) => Partial<AgentView> = () => ({})) => [
  leadView(),
  ...Array.from({ length: count }, (_, at) => agentView(`a_${at}`, more(at))),
];

describe('the swarm table', () => {
  test('shows agents as a tree, with the first agent selected', () => {
    const { table, ids } = tableOf(swarmView(AGENTS));
    expect(ids()).toEqual(['>a_lead', 'a_docs', 'a_deep', 'a_done', 'a_fail']);
    expect(table.window(10).map(({ branch }) => branch)).toEqual(['', '├─', '│ ├─', '│ └─', '└─']);
  });

  test('has a row for each of several swarms that cannot be selected', () => {
    const secondSwarm = swarmView([leadView()], { id: 's_two' });
    const { table, ids } = tableOf(swarmView(AGENTS.slice(0, 2)), secondSwarm);
    expect(ids()).toEqual(['s_one', '>a_lead', 'a_docs', 's_two', 'a_lead']);
    table.move(2);
    expect(ids()).toEqual(['s_one', 'a_lead', 'a_docs', 's_two', '>a_lead']);
    expect(table.selected?.swarm).toBe(secondSwarm);
    table.move(-1);
    expect(table.selected?.agent.id).toBe('a_docs');
  });

  test('folds a parent and counts its hidden descendants', () => {
    const { table, ids } = tableOf(swarmView(AGENTS));
    table.move(1);
    table.fold();
    expect(ids()).toEqual(['a_lead', '>a_docs+2', 'a_fail']);
    expect(table.count).toEqual({ shown: 5, all: 5 });
    table.unfold();
    table.unfold();
    expect(ids()).toEqual(['a_lead', 'a_docs', '>a_deep', 'a_done', 'a_fail']);
    table.fold();
    expect(table.selected?.agent.id).toBe('a_docs');
    table.toggleAll();
    expect(ids()).toEqual(['a_lead', '>a_docs+2', 'a_fail']);
    table.toggleAll();
    table.home();
    table.toggle();
    expect(ids()).toEqual(['>a_lead+4']);
  });

  test('sorts siblings and keeps each agent below its parent', () => {
    const { table, ids } = tableOf(swarmView(AGENTS));
    const sorted = (order: string) => {
      while (table.sortAndFilter.order !== order) table.cycleOrder();
      return ids();
    };
    expect(sorted('cost')).toEqual(['>a_lead', 'a_fail', 'a_docs', 'a_done', 'a_deep']);
    table.reverse();
    expect(ids()).toEqual(['>a_lead', 'a_docs', 'a_deep', 'a_done', 'a_fail']);
    expect(sorted('state')).toEqual(['>a_lead', 'a_fail', 'a_docs', 'a_deep', 'a_done']);
    expect(sorted('activity')).toEqual(['>a_lead', 'a_fail', 'a_docs', 'a_done', 'a_deep']);
  });

  test('filters agents and keeps the ancestors of a match visible', () => {
    const { table, ids } = tableOf(swarmView(AGENTS));
    const filtered = (filter: string) => {
      while (table.sortAndFilter.filter !== filter) table.cycleFilter();
      return ids();
    };
    expect(filtered('live')).toEqual(['>a_lead', 'a_docs', 'a_deep']);
    expect(filtered('asking')).toEqual(['>~a_lead', '~a_docs', 'a_deep']);
    expect(filtered('failed')).toEqual(['>~a_lead', 'a_fail']);
    expect(table.count).toEqual({ shown: 2, all: 5 });
    table.showAll();
    table.search('TESTER');
    expect(ids()).toEqual(['>~a_lead', 'a_fail']);
    table.selectFound();
    expect(table.selected?.agent.id).toBe('a_fail');
    table.search('nobody is called so');
    expect(ids()).toEqual([]);
    expect(table.selected).toBeUndefined();
  });

  test('restores the selection of an agent that a search has hidden', () => {
    const { table, ids } = tableOf(swarmView(AGENTS));
    table.select('s_one', 'a_deep');
    table.search('docs');
    expect(ids()).toEqual(['~a_lead', '>a_docs']);
    table.search('');
    expect(table.selected?.agent.id).toBe('a_deep');
  });

  test('keeps the row of the selected agent when other agents move', () => {
    const cost = (at: number) => ({ costUsd: at });
    const { table, source, ids } = tableOf(swarmView(manyAgents(40, cost)));
    while (table.sortAndFilter.order !== 'cost') table.cycleOrder();
    table.window(10);
    table.select('s_one', 'a_30');
    const at = ids(10).indexOf('>a_30');
    source.show(swarmView(manyAgents(40, (n) => ({ costUsd: n === 30 ? 3.5 : n }))));
    vi.advanceTimersByTime(2_000);
    expect(ids(10).indexOf('>a_30')).toBe(at);
    expect(table.part).toMatchObject({ of: 41 });
  });

  test('reorders rows at most once a second and shows new agents at once', () => {
    const { table, source, ids } = tableOf(
      swarmView(manyAgents(2, (at) => ({ costUsd: 10 - at }))),
    );
    while (table.sortAndFilter.order !== 'cost') table.cycleOrder();
    expect(ids()).toEqual(['>a_lead', 'a_0', 'a_1']);
    source.show(swarmView(manyAgents(2, (at) => ({ costUsd: 10 + at }))));
    expect(ids()).toEqual(['>a_lead', 'a_0', 'a_1']);
    expect(table.window(9)[2]?.view?.costUsd).toBe(11);
    vi.advanceTimersByTime(1_000);
    expect(ids()).toEqual(['>a_lead', 'a_1', 'a_0']);
    source.show(swarmView(manyAgents(3, (at) => ({ costUsd: 10 - at }))));
    expect(ids()).toEqual(['>a_lead', 'a_0', 'a_1', 'a_2']);
  });

  test('scrolls by pages and to both ends', () => {
    const { table, ids } = tableOf(swarmView(manyAgents(100)));
    expect(ids(10)[0]).toBe('>a_lead');
    table.page(1);
    expect(ids(10)).toEqual(['a_lead', ...[0, 1, 2, 3, 4, 5, 6, 7].map((at) => `a_${at}`), '>a_8']);
    table.end();
    expect(ids(10).at(-1)).toBe('>a_99');
    expect(table.part).toEqual({ from: 92, to: 101, of: 101 });
    table.home();
    expect(ids(10)[0]).toBe('>a_lead');
    table.move(-1);
    expect(ids(10)[0]).toBe('>a_lead');
  });

  test('shows agents with a cycle of parents', () => {
    const cycle = [
      agentView('a_1', { parent: 'a_2' }),
      agentView('a_2', { parent: 'a_1' }),
      leadView(),
    ];
    expect(tableOf(swarmView(cycle)).ids()).toEqual(['>a_1', 'a_2', 'a_lead']);
  });

  test('stops watching its source when its watcher leaves', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const source = new ShownSwarms([swarmView(AGENTS)]);
    const closed = vi.fn<() => void>();
    const end = new SwarmTable(source, closed).watch(() => {});
    expect(source.watchers).toBe(1);
    end();
    expect([source.watchers, closed.mock.calls.length, vi.getTimerCount()]).toEqual([0, 1, 0]);
  });
});
