import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../../src/terminal/terminal.js';
import { textWidth } from '../../../../src/terminal/text/text-width.js';
import type { SwarmTableRow } from '../../../../src/ui/swarm/table/swarm-table.js';
import { tableColumns, tableHead } from '../../../../src/ui/swarm/table/table-columns.js';
import { TableRows } from '../../../../src/ui/swarm/table/table-rows.js';
import {
  agentView,
  asking,
  BEGAN,
  ended,
  leadView,
  swarmView,
} from '../../../fakes/agents/agent-views.js';

const NOW = BEGAN + 42_000;
const LEAD = leadView();
const row = (more: Partial<SwarmTableRow> = {}): SwarmTableRow => ({
  key: 's_one a_lead',
  session: 's_one',
  agent: 'a_lead',
  depth: 0,
  branch: '',
  isContext: false,
  below: [],
  isParent: false,
  swarm: swarmView([LEAD]),
  view: LEAD,
  shortId: 'a_lead',
  hidden: [],
  isSelected: false,
  ...more,
});
const plain = (unicode = true) => new TableRows({ paint: paintFor(false), unicode });
const text = (shown: SwarmTableRow, width = 120, now = NOW) =>
  plain().text(shown, tableColumns(width), now, true);

describe('the columns of the swarm table', () => {
  test('increase with the width and always fill it', () => {
    expect(tableHead(tableColumns(60))).toBe('  AGENT                 STATE             DOING');
    expect(tableHead(tableColumns(160)).split(/ {2,}/).slice(1)).toEqual([
      'AGENT',
      'STATE',
      'TURNS',
      'TOKENS',
      'CACHED',
      'COST',
      'AGE',
      'LAST',
      'DOING',
    ]);
    for (let width = 60; width <= 250; width += 1) {
      const shown = text(
        row({ view: agentView('a_日本語', { description: '語'.repeat(200) }) }),
        width,
      );
      expect(textWidth(shown)).toBe(width);
    }
  });
});

describe('a row of the swarm table', () => {
  test('keeps its text until its content changes', () => {
    const rows = plain();
    const columns = tableColumns(120);
    const first = rows.text(row(), columns, NOW, true);
    expect(rows.text(row(), columns, NOW + 100, true)).toBe(first);
    expect(rows.text(row(), columns, NOW + 1_000, true)).not.toBe(first);
    expect(rows.text(row({ isSelected: true }), columns, NOW, true)).toMatch(/^> lead a_lead/);
    expect(rows.text(row({ isSelected: true }), columns, NOW, false)).toMatch(/^- lead a_lead/);
  });

  test('sums up its hidden descendants', () => {
    const hidden = [
      agentView('a_1', asking('rm x')),
      agentView('a_2'),
      agentView('a_3', ended('budget')),
    ];
    const shown = text(row({ hidden, below: ['a_1', 'a_2', 'a_3'] }));
    expect(shown).toContain('▸lead a_lead +3');
    expect(shown).toContain('$1.00');
    expect(text(row({ hidden }), 160)).toMatch(/3 below: 1 asks, 1 failed, 1 running/);
    const unknown = agentView('a_4', { costUsd: null });
    expect(text(row({ hidden: [unknown] }))).toContain('unknown');
  });

  test('shows the number of hidden descendants after a long name', () => {
    const view = agentView('a_1', { name: 'a-name-that-is-much-too-long-for-its-column' });
    expect(text(row({ view, hidden: [LEAD] }), 60)).toContain('… +1');
  });

  test('has only ASCII and no control characters on a terminal without Unicode', () => {
    const view = agentView('a_1', { name: 'x\u001b[2J\u0007', description: '\u202egnp.exe' });
    const shown = plain(false).text(row({ view, branch: '│ └─' }), tableColumns(100), NOW, true);
    expect(shown).toMatch(/^ {2}\| `-x +\* streaming .* gnp\.exe\s*$/);
  });
});
