import { describe, expect, test } from 'vitest';
import { formatAgentAge } from '../../../src/terminal/format/format-agent.js';
import { swarmText } from '../../../src/terminal/output/swarm-text.js';
import { paintFor } from '../../../src/terminal/terminal.js';
import { agentDetail } from '../../../src/ui/swarm/detail/agent-detail.js';
import { cellText } from '../../../src/ui/swarm/table/table-columns.js';
import { agentView, BEGAN, ended, leadView, swarmView } from '../../fakes/agents/agent-views.js';

const NOW = BEGAN + 600_000;
const LOST = agentView('a_1', { status: 'lost', state: 'lost', lostAt: BEGAN + 64_000 });

describe('the age of an agent', () => {
  test.each(['running', 'queued', 'idle'] as const)('grows while the agent is %s', (status) => {
    expect(formatAgentAge(agentView('a_1', { status }), NOW)).toBe('10m');
  });

  test('is the run time of an agent that ended or was stopped', () => {
    expect(formatAgentAge(agentView('a_1', ended('end_turn')), NOW)).toBe('5s');
    expect(formatAgentAge(agentView('a_1', { ...ended('stopped'), status: 'stopped' }), NOW)).toBe(
      '5s',
    );
  });

  test('is the time until the loss of a lost agent', () => {
    expect(formatAgentAge(LOST, NOW)).toBe('64s');
  });

  test('is the same in the tree, in the table and in the detail view', () => {
    const swarm = swarmView([leadView(), LOST]);
    const layout = { width: 100, unicode: true, now: NOW };
    const detail = agentDetail(swarm, LOST, { ...layout, height: 30, paint: paintFor(false) });
    expect(swarmText(swarm, layout).split('\n').at(-1)).toMatch(/ 64s /);
    expect(cellText('age', LOST, NOW)).toBe('64s');
    expect(detail.join('\n')).toContain('64s old');
  });
});
