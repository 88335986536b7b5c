import { describe, expect, test } from 'vitest';
import type { SwarmView } from '../../../src/sdk/swarm-view.js';
import { paintFor } from '../../../src/terminal/terminal.js';
import { progressLine, titleLine } from '../../../src/ui/swarm/head-lines.js';
import { totalsOf } from '../../../src/ui/swarm/swarm-totals.js';
import { agentView, asking, BEGAN, ended, leadView, swarmView } from '../../fakes/agent-views.js';

const paper = (width: number) => ({
  ...{ width, now: BEGAN + 60_000, paint: paintFor(false), unicode: true },
});
const AGENTS = [
  leadView(),
  agentView('a_1', asking('rm x')),
  agentView('a_2', ended('end_turn')),
  agentView('a_3', ended('budget')),
];
const SWARM: SwarmView = {
  ...swarmView(AGENTS),
  budget: { usd: 3.5, tokens: null },
  pace: { at: () => ({ turnsPerMinute: 4.5, tokensPerMinute: 900, usdPerMinute: 0.5 }) },
};
const progress = (width: number, swarms = [SWARM]) =>
  progressLine(totalsOf(swarms, BEGAN), paper(width));

describe('the line of progress', () => {
  test('says what is done, running, waiting and failed, what is left and how fast it goes', () => {
    expect(progress(140).replaceAll(/ {3,}/g, ' | ')).toBe(
      '██████████░░░░░░░░░░  ● 1 running  ◌ 0 waiting  ✗ 1 failed  ✓ 1 done  ? 1 asks | $1.00 spent  $3.50 left  4.5 turns/min  $0.5000/min',
    );
  });

  test('gives way from its end where there is little room', () => {
    expect(progress(80)).toMatch(/^● 1 running .* \? 1 asks {2,}\$1\.00 spent$/);
    expect(progress(40)).toBe('● 1 running  ◌ 0 waiting  ✗ 1 failed');
  });

  test('adds several swarms up, and knows no sum of what it does not know', () => {
    expect(progress(140, [SWARM, SWARM])).toContain('$7.00 left');
    const unlimited = { ...SWARM, budget: { usd: null, tokens: null } };
    expect(progress(140, [SWARM, unlimited])).not.toContain('left');
    const unknown = { ...SWARM, agents: [leadView({ costUsd: null })] };
    expect(progress(140, [unknown])).toContain('unknown spent');
  });
});

describe('the title', () => {
  test('says which swarm it is, and who runs it since when', () => {
    expect(titleLine('skein top', [SWARM], paper(100))).toBe(
      'skein top  s_one  mend the tests                             running, pid 77  up 2m  claude-opus-4-5',
    );
    const lost = { ...SWARM, holder: undefined, agents: [leadView({ status: 'lost' })] };
    expect(titleLine('skein top', [lost], paper(100))).toMatch(/lost {2}claude-opus-4-5$/);
    expect(titleLine('skein top', [], paper(100))).toBe('skein top  no swarm runs');
  });

  test('is no wider than it may be, whatever a session is called', () => {
    const title = '語'.repeat(300);
    const long = { ...SWARM, session: { ...SWARM.session, title } };
    for (const width of [20, 60, 80, 250]) {
      expect(titleLine('skein top', [long], paper(width)).length).toBeLessThanOrEqual(width);
    }
  });
});
