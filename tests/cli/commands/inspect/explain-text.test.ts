import { describe, expect, test } from 'vitest';
import { callsText, explainText } from '../../../../src/cli/commands/inspect/explain-text.js';
import { textWidth } from '../../../../src/terminal/text/text-width.js';
import type { CallExplanation } from '../../../../src/views/calls/call-explanation.js';
import type { ListedCall } from '../../../../src/views/calls/list-calls.js';

/** Call that a rule denied, with content for every section. */
const explained = (more: Partial<CallExplanation> = {}): CallExplanation => ({
  session: 's_1',
  call: 'toolu_1',
  number: 3,
  agent: 'a_1',
  tool: 'Bash',
  turn: 2,
  askedAt: 0,
  input: '{"command":"rm x"}',
  outcome: 'denied',
  durationMs: 0,
  result: 'Denied.',
  orders: [],
  steps: [
    { step: 'schema', fate: 'passed' },
    { step: 'deny', fate: 'denied' },
    { step: 'ask', fate: 'not reached' },
  ],
  rulings: [
    {
      behavior: 'deny',
      step: 'deny',
      reason: 'Denied by a rule.',
      instead: 'Nothing would.',
      rule: 'Bash(rm:*)',
      source: 'project',
      file: '/repo/.claude/settings.json',
      line: 4,
    },
  ],
  questions: [
    {
      reason: 'Must agree.',
      waitedMs: 2_500,
      answers: [{ surface: 'terminal', outcome: 'accepted', detail: 'once' }],
    },
  ],
  hooks: [
    { event: 'PreToolUse', hook: './check', outcome: 'ok', durationMs: 12, detail: 'It is fine.' },
  ],
  files: [
    {
      path: '/repo/x',
      change: 'removed',
      earlierMore: 2,
      earlier: [{ number: 1, tool: 'Write', ts: 0 }],
    },
  ],
  isUnwatched: false,
  seen: [{ number: 2, tool: 'Grep', isSame: false, line: 7, text: 'x: remove it' }],
  seenMore: 1,
  rewoundAt: null,
  ...more,
});

describe('the explanation of a call', () => {
  test('has all sections', () => {
    const text = explainText(explained(), 80);
    expect(text).toContain('Call 3: Bash, denied after 0 ms\n');
    expect(text).toContain('\nWhy it did not run\n');
    expect(text).toContain('\n > deny    denied       deny rules and built-in denials\n');
    expect(text).toContain('    Rule Bash(rm:*) of /repo/.claude/settings.json:4\n');
    expect(text).toContain('    Otherwise: Nothing would.\n');
    expect(text).toContain('  The answer took 2.5 s.\n    terminal answered: once\n');
    expect(text).toContain('  PreToolUse ./check: ok, 12 ms: It is fine.\n');
    expect(text).toContain('  removed /repo/x\n    before by call 1, Write, ');
    expect(text).toContain('    and by 2 earlier calls\n');
    expect(text).toContain('  call 2, Grep, line 7: x: remove it\n  and 1 earlier result\n');
  });

  test('marks empty sections', () => {
    const text = explainText(
      explained({
        rulings: [],
        steps: [],
        hooks: [],
        files: [],
        seen: [],
        seenMore: 0,
        questions: [],
        result: null,
        outcome: 'no end',
        isUnwatched: true,
        durationMs: null,
      }),
      80,
    );
    expect(text).toContain('No result was recorded.');
    expect(text).toContain('No ruling was recorded.');
    expect(text).toContain('None.');
    expect(text).toContain('File changes were not tracked during Bash.');
    expect(text).toContain('No earlier result mentions it.');
  });

  const long = 'a word and '.repeat(40);
  test.each([60, 80, 160])('fits into %s columns and contains no control characters', (width) => {
    const hostile = `\u001b[2J\u001b]0;x\u0007${long}\u202e${'\u6f22'.repeat(100)}`;
    const text = explainText(
      explained({
        input: hostile,
        result: hostile,
        tool: hostile,
        rulings: [
          { behavior: 'allow', step: hostile, reason: hostile, rule: hostile, by: hostile },
        ],
        hooks: [{ event: 'Stop', hook: hostile, outcome: 'ok', durationMs: 1, detail: hostile }],
        seen: [{ number: 1, tool: hostile, isSame: true, line: 1, text: hostile }],
      }),
      width,
    );
    expect(text).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
    expect(Math.max(...text.split('\n').map(textWidth))).toBeLessThanOrEqual(width);
  });
});

describe('the list of calls', () => {
  const call = (number: number): ListedCall => ({
    number,
    call: `toolu_${number}`,
    agent: 'a_1',
    tool: 'Read',
    turn: 1,
    ts: 0,
    seq: 1,
    subject: { files: ['/repo/src/a.ts'] },
    cwd: '/repo',
    outcome: 'ok',
    startedAt: 0,
    endedAt: 0,
    changed: undefined,
  });

  test('has a line for each call, and only the last calls of a long session', () => {
    expect(callsText([call(1)], 80)).toBe('1  Read  ok  toolu_1  src/a.ts\n');
    expect(callsText([], 80)).toBe('The session has no calls.\n');
    const lines = callsText(
      Array.from({ length: 1_000 }, (_, index) => call(index + 1)),
      60,
    ).split('\n');
    expect(lines[0]).toBe('800 earlier calls not listed; --json has all.');
    expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(60);
  });
});
