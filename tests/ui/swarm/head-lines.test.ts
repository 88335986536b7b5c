import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { progressLine, titleLine } from '../../../src/ui/swarm/head-lines.js';
import { swarmTotals } from '../../../src/ui/swarm/swarm-totals.js';
import type { SwarmView } from '../../../src/views/swarm/swarm-view.js';
import {
  agentView,
  asking,
  BEGAN,
  ended,
  leadView,
  swarmView,
} from '../../fakes/agents/agent-views.js';

const layout = (width: number) => ({
  width,
  now: BEGAN + 60_000,
  paint: paintFor(false),
  unicode: true,
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
  throughput: { at: () => ({ turnsPerMinute: 4.5, tokensPerMinute: 900, usdPerMinute: 0.5 }) },
};
const progress = (width: number, swarms = [SWARM]) =>
  progressLine(swarmTotals(swarms, BEGAN), layout(width));

describe('the progress line', () => {
  test('shows the numbers of agents, the money spent and left, and the rates', () => {
    expect(progress(140).replaceAll(/ {3,}/g, ' | ')).toBe(
      '██████████░░░░░░░░░░  ● 1 running  ◌ 0 waiting  ✗ 1 failed  ✓ 1 done  ? 1 asks | $1.00 spent  $3.50 left  4.5 turns/min  $0.5000/min',
    );
  });

  test('has an empty bar while no agent has ended, even if agents are idle', () => {
    const idle = agentView('a_1', { kind: 'teammate', status: 'idle', state: 'idle' });
    const lead = leadView({ state: 'idle' });
    expect(progress(140, [swarmView([lead, idle])])).toMatch(/^░{20} .* ✓ 0 done/);
  });

  test('drops parts from its end on a narrow screen', () => {
    expect(progress(90)).toMatch(/◌ 0 waiting .* \? 1 asks {2,}\$1\.00 spent {2}\$3\.50 left$/);
    expect(progress(60)).toMatch(/^● 1 running {2}✗ 1 failed .* \? 1 asks {2,}\$1\.00 spent$/);
    expect(progress(30)).toBe('● 1 running  ✗ 1 failed');
  });

  test('prefers money to zero counts on a narrow screen', () => {
    const calm = { ...SWARM, agents: [leadView(), agentView('a_1')] };
    expect(progress(80, [calm])).toMatch(/0 done {2,}\$0\.5000 spent {2}\$3\.50 left$/);
    expect(progress(60, [calm]).replaceAll(/ {3,}/g, ' | ')).toBe(
      '● 2 running  ◌ 0 waiting | $0.5000 spent  $3.50 left',
    );
    expect(
      progress(24, [
        { ...calm, agents: [leadView(ended('budget')), agentView('a_1', ended('budget'))] },
      ]),
    ).toMatch(/^● 0 running {2}✗ 2 failed$/);
  });

  test('shows the rest of a token budget, alone or next to a money budget', () => {
    const tokens = { ...SWARM, budget: { usd: null, tokens: 480_000 } };
    expect(progress(140, [tokens])).toContain('$1.00 spent  480k tokens left  4.5 turns/min');
    const both = { ...SWARM, budget: { usd: 3.5, tokens: -20 } };
    expect(progress(140, [both])).toContain('$3.50 left  0 tokens left');
  });

  test('sums up several swarms, and shows an unknown cost as unknown', () => {
    expect(progress(140, [SWARM, SWARM])).toContain('$7.00 left');
    const unknown = { ...SWARM, agents: [leadView({ costUsd: null })] };
    expect(progress(140, [unknown])).toContain('unknown spent');
  });

  test('sums up the rest of limited budgets and ignores unlimited swarms', () => {
    const unlimited = { ...SWARM, budget: { usd: null, tokens: null } };
    const tokens = { ...SWARM, budget: { usd: null, tokens: 1_500 } };
    expect(progress(160, [unlimited, SWARM, tokens])).toContain('$3.50 left  1.5k tokens left');
    expect(progress(160, [unlimited, unlimited])).not.toContain('left');
    expect(progress(160, [])).not.toContain('left');
  });

  test('fits the width and always shows the number of running agents', () => {
    const amount = fc.option(fc.double({ min: -1, max: 1e6, noNaN: true }), { nil: null });
    const few = fc.integer({ min: 0, max: 300 });
    const totals = fc.record({
      agents: few,
      running: few,
      waiting: few,
      asking: few,
      failed: few,
      idle: few,
      done: few,
      costUsd: amount,
      leftUsd: amount,
      leftTokens: amount,
      turnsPerMinute: fc.double({ min: 0, max: 999, noNaN: true }),
      usdPerMinute: amount,
    });
    fc.assert(
      fc.property(totals, fc.integer({ min: 20, max: 250 }), (figures, width) => {
        const line = progressLine(figures, layout(width));
        expect(textWidth(line)).toBeLessThanOrEqual(width);
        expect(line).toContain(`${figures.running} running`);
      }),
    );
  });
});

describe('the title line', () => {
  test('shows the swarm, its process and its age', () => {
    expect(titleLine('skein top', [SWARM], layout(100))).toBe(
      'skein top  s_one  mend the tests                             running, pid 77  up 2m  claude-opus-4-5',
    );
    const lost = { ...SWARM, holder: undefined, agents: [leadView({ status: 'lost' })] };
    expect(titleLine('skein top', [lost], layout(100))).toMatch(/lost {2}claude-opus-4-5$/);
    expect(titleLine('skein top', [], layout(100))).toBe('skein top  no swarm is running');
  });

  test('fits the width for any session title', () => {
    const title = '語'.repeat(300);
    const long = { ...SWARM, session: { ...SWARM.session, title } };
    for (const width of [20, 60, 80, 250]) {
      expect(titleLine('skein top', [long], layout(width)).length).toBeLessThanOrEqual(width);
    }
  });
});
