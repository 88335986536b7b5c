import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../../src/terminal/terminal.js';
import { textWidth } from '../../../../src/terminal/text/text-width.js';
import { agentDetail } from '../../../../src/ui/swarm/detail/agent-detail.js';
import {
  agentView,
  asking,
  BEGAN,
  ended,
  leadView,
  swarmView,
} from '../../../fakes/agents/agent-views.js';

const LEAD = leadView();
const detail = (view = LEAD, width = 60, height = 40) =>
  agentDetail(swarmView([LEAD, view]), view, {
    width,
    height,
    now: BEGAN + 42_000,
    paint: paintFor(false),
    unicode: true,
  });

const call = (at: number) => ({
  call: `c_${at}`,
  tool: 'Read',
  description: `Read file-${at}`,
  since: BEGAN + at * 1_000,
});

describe('the detail view of an agent', () => {
  test('shows the name, state, parent, model, cost and task', () => {
    expect(detail(agentView('a_1', { worker: 'w_7', name: 'docs' })).slice(0, 6)).toEqual([
      'docs                                             ● streaming',
      'sync · for lead · claude-opus-4-5 · on worker w_7 · 3 turns',
      '12.3k tokens, 83.4 % cached · context 4.2k · $0.2500',
      '42s old · active 42s ago',
      'task   the task of a_1',
      '',
    ]);
  });

  test('lists three calls with their times and counts the rest', () => {
    const calls = [0, 1, 2, 3, 4, 5].map(call);
    expect(detail(agentView('a_1', { state: 'tool-running', calls }))).toEqual(
      expect.arrayContaining([
        'does   Read file-0  42s',
        '       Read file-1  41s',
        '       Read file-2  40s',
        '       and 3 more',
      ]),
    );
  });

  test('shows the wait, the question and the end of the agent', () => {
    expect(detail(agentView('a_1', asking('rm x')))).toContain('asks   Bash rm x  42s  q_abcdef');
    const wait = {
      kind: 'child',
      detail: 'docs',
      since: BEGAN,
      agents: ['a_2'],
      count: 3,
    } as const;
    expect(detail(agentView('a_1', { wait }))).toContain('waits  for docs and 2 more  42s');
    expect(detail(agentView('a_1', ended('max_turns', 'after 5 turns')))).toContain(
      'end    max_turns: after 5 turns',
    );
  });

  test('highlights the state in a chart that depends on the height', () => {
    expect(detail().join('\n')).toContain('[streaming]');
    expect(detail(LEAD, 60, 18).join('\n')).toMatch(/\[streaming\] ─▶ tool-running/);
    expect(detail(LEAD, 60, 8).join('\n')).not.toContain('─▶');
  });

  test('stays within its height and width for any text of a model', () => {
    const hostile = `${'語'.repeat(300)}\u001b[2J\n\n${'x'.repeat(5_000)}`;
    const view = agentView('a_1', {
      name: hostile,
      description: hostile,
      model: hostile,
      worker: hostile,
      calls: [{ ...call(1), description: hostile }],
    });
    for (const [width, height] of [
      [60, 8],
      [57, 20],
      [100, 50],
    ] as const) {
      const lines = detail(view, width, height);
      expect(lines.length).toBeLessThan(height);
      for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
      expect(lines.join('')).not.toContain('\u001b');
    }
  });
});
