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

/** A lead with two agents, the first of which has two of its own. */
const FAMILY = [
  leadView({ costUsd: 1 }),
  agentView('a_docs', { name: 'docs', costUsd: 2 }),
  agentView('a_deep', { parent: 'a_docs', depth: 2, costUsd: 3, ...asking('rm x') }),
  agentView('a_done', { parent: 'a_docs', depth: 2, costUsd: 4, ...ended('end_turn') }),
  agentView('a_fail', { type: 'tester', costUsd: 5, ...ended('max_turns') }),
];

const boardOf = (...swarms: readonly SwarmView[]) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const source = new ShownSwarms(swarms);
  const board = new SwarmTable(source, undefined, () => Date.now());
  onTestFinished(board.watch(() => {}));
  /** Ids of the rows in a window, each behind signs for selected, folded and context rows. */
  const ids = (height = 100) =>
    board.window(height).map(({ agent, session, isSelected, isContext: isPassedBy, hidden }) => {
      const sign = `${isSelected ? '>' : ''}${isPassedBy ? '~' : ''}`;
      const more = hidden.length === 0 ? '' : `+${hidden.length}`;
      return `${sign}${agent ?? session}${more}`;
    });
  return { board, source, ids };
};

const many = (count: number, more: (at: number) => Partial<AgentView> = () => ({})) => [
  leadView(),
  ...Array.from({ length: count }, (_, at) => agentView(`a_${at}`, more(at))),
];

describe('a board of agents', () => {
  test('has them as a tree, with the first one selected', () => {
    const { board, ids } = boardOf(swarmView(FAMILY));
    expect(ids()).toEqual(['>a_lead', 'a_docs', 'a_deep', 'a_done', 'a_fail']);
    expect(board.window(10).map(({ branch }) => branch)).toEqual(['', '├─', '│ ├─', '│ └─', '└─']);
  });

  test('has a line for each of several swarms, which nobody can select', () => {
    const other = swarmView([leadView()], { id: 's_two' });
    const { board, ids } = boardOf(swarmView(FAMILY.slice(0, 2)), other);
    expect(ids()).toEqual(['s_one', '>a_lead', 'a_docs', 's_two', 'a_lead']);
    board.move(2);
    expect(ids()).toEqual(['s_one', 'a_lead', 'a_docs', 's_two', '>a_lead']);
    expect(board.selected?.swarm).toBe(other);
    board.move(-1);
    expect(board.selected?.agent.id).toBe('a_docs');
  });

  test('folds whoever others work for, and says whom it has folded away', () => {
    const { board, ids } = boardOf(swarmView(FAMILY));
    board.move(1);
    board.fold();
    expect(ids()).toEqual(['a_lead', '>a_docs+2', 'a_fail']);
    expect(board.count).toEqual({ shown: 5, all: 5 });
    board.unfold();
    board.unfold();
    expect(ids()).toEqual(['a_lead', 'a_docs', '>a_deep', 'a_done', 'a_fail']);
    board.fold();
    expect(board.selected?.agent.id).toBe('a_docs');
    board.toggleAll();
    expect(ids()).toEqual(['a_lead', '>a_docs+2', 'a_fail']);
    board.toggleAll();
    board.home();
    board.toggle();
    expect(ids()).toEqual(['>a_lead+4']);
  });

  test('sorts siblings, and leaves everybody below the one that it works for', () => {
    const { board, ids } = boardOf(swarmView(FAMILY));
    const sorted = (order: string) => {
      while (board.sortAndFilter.order !== order) board.cycleOrder();
      return ids();
    };
    expect(sorted('cost')).toEqual(['>a_lead', 'a_fail', 'a_docs', 'a_done', 'a_deep']);
    board.reverse();
    expect(ids()).toEqual(['>a_lead', 'a_docs', 'a_deep', 'a_done', 'a_fail']);
    expect(sorted('state')).toEqual(['>a_lead', 'a_fail', 'a_docs', 'a_deep', 'a_done']);
    expect(sorted('activity')).toEqual(['>a_lead', 'a_fail', 'a_docs', 'a_done', 'a_deep']);
  });

  test('filters, and keeps those above a hit in sight', () => {
    const { board, ids } = boardOf(swarmView(FAMILY));
    const filtered = (filter: string) => {
      while (board.sortAndFilter.filter !== filter) board.cycleFilter();
      return ids();
    };
    expect(filtered('live')).toEqual(['>a_lead', 'a_docs', 'a_deep']);
    expect(filtered('asking')).toEqual(['>~a_lead', '~a_docs', 'a_deep']);
    expect(filtered('failed')).toEqual(['>~a_lead', 'a_fail']);
    expect(board.count).toEqual({ shown: 2, all: 5 });
    board.showAll();
    board.search('TESTER');
    expect(ids()).toEqual(['>~a_lead', 'a_fail']);
    board.selectFound();
    expect(board.selected?.agent.id).toBe('a_fail');
    board.search('nobody is called so');
    expect(ids()).toEqual([]);
    expect(board.selected).toBeUndefined();
  });

  test('keeps an agent selected that is not shown for a while', () => {
    const { board, ids } = boardOf(swarmView(FAMILY));
    board.select('s_one', 'a_deep');
    board.search('docs');
    expect(ids()).toEqual(['~a_lead', '>a_docs']);
    board.search('');
    expect(board.selected?.agent.id).toBe('a_deep');
  });

  test('keeps the selected agent where it stands when others move', () => {
    const cost = (at: number) => ({ costUsd: at });
    const { board, source, ids } = boardOf(swarmView(many(40, cost)));
    while (board.sortAndFilter.order !== 'cost') board.cycleOrder();
    board.window(10);
    board.select('s_one', 'a_30');
    const at = ids(10).indexOf('>a_30');
    source.show(swarmView(many(40, (n) => ({ costUsd: n === 30 ? 3.5 : n }))));
    vi.advanceTimersByTime(2_000);
    expect(ids(10).indexOf('>a_30')).toBe(at);
    expect(board.part).toMatchObject({ of: 41 });
  });

  test('moves lines about once a second at most, and shows at once who joins', () => {
    const { board, source, ids } = boardOf(swarmView(many(2, (at) => ({ costUsd: 10 - at }))));
    while (board.sortAndFilter.order !== 'cost') board.cycleOrder();
    expect(ids()).toEqual(['>a_lead', 'a_0', 'a_1']);
    source.show(swarmView(many(2, (at) => ({ costUsd: 10 + at }))));
    expect(ids()).toEqual(['>a_lead', 'a_0', 'a_1']);
    expect(board.window(9)[2]?.view?.costUsd).toBe(11);
    vi.advanceTimersByTime(1_000);
    expect(ids()).toEqual(['>a_lead', 'a_1', 'a_0']);
    source.show(swarmView(many(3, (at) => ({ costUsd: 10 - at }))));
    expect(ids()).toEqual(['>a_lead', 'a_0', 'a_1', 'a_2']);
  });

  test('scrolls by pages, and to both ends', () => {
    const { board, ids } = boardOf(swarmView(many(100)));
    expect(ids(10)[0]).toBe('>a_lead');
    board.page(1);
    expect(ids(10)).toEqual(['a_lead', ...[0, 1, 2, 3, 4, 5, 6, 7].map((at) => `a_${at}`), '>a_8']);
    board.end();
    expect(ids(10).at(-1)).toBe('>a_99');
    expect(board.part).toEqual({ from: 92, to: 101, of: 101 });
    board.home();
    expect(ids(10)[0]).toBe('>a_lead');
    board.move(-1);
    expect(ids(10)[0]).toBe('>a_lead');
  });

  test('shows whom somebody made go round in a circle', () => {
    const circle = [
      agentView('a_1', { parent: 'a_2' }),
      agentView('a_2', { parent: 'a_1' }),
      leadView(),
    ];
    expect(boardOf(swarmView(circle)).ids()).toEqual(['>a_1', 'a_2', 'a_lead']);
  });

  test('looks at nothing once nobody looks', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const source = new ShownSwarms([swarmView(FAMILY)]);
    const closed = vi.fn<() => void>();
    const end = new SwarmTable(source, closed).watch(() => {});
    expect(source.watchers).toBe(1);
    end();
    expect([source.watchers, closed.mock.calls.length, vi.getTimerCount()]).toEqual([0, 1, 0]);
  });
});
