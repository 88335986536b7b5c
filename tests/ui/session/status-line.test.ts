import { describe, expect, test } from 'vitest';
import { windowThresholds } from '../../../src/context/window/window-thresholds.js';
import { contextUse } from '../../../src/sdk/sessions/context-use.js';
import { paintFor } from '../../../src/terminal/terminal.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { type StatusFacts, statusLine } from '../../../src/ui/session/status-line.js';

const FACTS: StatusFacts = {
  model: 'claude-sonnet-5-5',
  mode: 'default',
  cost: 0.1234,
  cachePercent: 87.4,
  branch: 'main',
  running: 3,
  waiting: 1,
  context: contextUse(50_000, windowThresholds('unknown')),
};

const line = (facts: Partial<StatusFacts> = {}, columns = 200) =>
  statusLine({ ...FACTS, ...facts }, columns, paintFor(false));

const at = (tokens: number) => line({ context: contextUse(tokens, windowThresholds('unknown')) });

describe('the status line', () => {
  test('has model, mode, context, cost, cache, branch and agents', () => {
    expect(line()).toBe(
      'claude-sonnet-5-5 · mode default · context 25 % · $0.1234 · cache 87.4 % · on main · 3 agents running · 1 waiting',
    );
  });

  test('shows only the model and the mode before the first request', () => {
    const facts = { model: 'm', mode: 'plan', running: 0, waiting: 0 };
    expect(statusLine(facts, 80, paintFor(false))).toBe('m · mode plan');
  });

  test('shows an unknown cost', () => {
    expect(line({ cost: null })).toContain(' · unknown · ');
  });

  test.each([20, 40, 60, 80, 120, 250])('fits into %i columns', (columns) => {
    const long = line({ model: 'm'.repeat(80), branch: '漢字/'.repeat(30) }, columns);
    expect(textWidth(long)).toBeLessThanOrEqual(columns);
  });

  test('keeps the most important facts in 40 columns', () => {
    expect(line({}, 40)).toBe('mode default · context 25 % · 1 waiting');
  });

  test.each([
    [147_000, false],
    [147_001, true],
    [167_000, true],
  ])('X2: shows a warning at %i tokens: %s', (tokens, isWarned) => {
    expect(at(tokens).includes('nearly full')).toBe(isWarned);
  });

  test('X2: announces a summary of older messages at 167,001 tokens', () => {
    expect(at(167_001)).toContain('context 84 %, to be summarised');
    expect(at(167_000)).not.toContain('summarised');
  });
});
