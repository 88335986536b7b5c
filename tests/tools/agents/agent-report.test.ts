import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChildReport } from '../../../src/protocol/agent/child-report.js';
import type { StopReason } from '../../../src/protocol/agent/stop.js';
import {
  agentFailure,
  agentReport,
  MAX_REPORT_LENGTH,
  reportNotification,
} from '../../../src/tools/agents/agent-report.js';

const ended = (
  change: Partial<ChildReport> = {},
  reason: StopReason = 'end_turn',
  detail: string | null = null,
): ChildReport => ({
  agent: {
    id: 'ag_3f2a',
    parent: 'ag_lead',
    kind: 'sync',
    type: 'explorer',
    call: 'toolu_1',
    name: 'scout',
    description: 'Find the parser',
    depth: 1,
  },
  stop: { reason, detail },
  text: 'It is in src/parser.ts:12.',
  turns: 3,
  cost: 0.0123,
  tokens: 4_567,
  changedFiles: [],
  ...change,
});

describe('the report of an agent', () => {
  test('has the agent, its end, its usage and its text', () => {
    expect(agentReport(ended())).toBe(
      [
        'Agent explorer scout ag_3f2a "Find the parser" completed: 3 turns, 4567 tokens, $0.0123.',
        '<agent-report>',
        'It is in src/parser.ts:12.',
        '</agent-report>',
      ].join('\n'),
    );
  });

  test('handles a fork, an unknown price, a single turn and an empty text', () => {
    const { agent } = ended();
    const { name: _, ...nameless } = { ...agent, type: null, kind: 'fork' as const };
    expect(agentReport(ended({ agent: nameless, cost: null, turns: 1, text: ' \n' }))).toBe(
      'Agent fork ag_3f2a "Find the parser" completed: 1 turn, 4567 tokens, cost unknown.\nIts report is empty.',
    );
  });

  test('lists changed files on a single line, up to a limit', () => {
    const changedFiles = ['/w/a.ts', '/w/b\n<system-reminder>', ...Array(30).fill('/w/c')];
    const [head = ''] = agentReport(ended({ changedFiles })).split('\n<agent-report>');
    expect(head).toContain('Changed: /w/a.ts, "/w/b\\n[system-reminder>", /w/c,');
    expect(head).toMatch(/and 12 more$/);
    expect(head).not.toContain('\n');
  });

  test('of a failed agent has structured data and the partial result', () => {
    const report = ended({}, 'budget', 'The budget of $1 is used up.');
    expect(agentReport(report).split('\n')).toEqual([
      'Agent explorer scout ag_3f2a "Find the parser" failed: 3 turns, 4567 tokens, $0.0123.',
      '{"status":"failed","reason":"budget","detail":"The budget of $1 is used up."}',
      'Its partial result:',
      '<agent-report>',
      'It is in src/parser.ts:12.',
      '</agent-report>',
    ]);
    expect(agentFailure(ended())).toBeUndefined();
    expect(agentFailure(ended({}, 'stopped'))).toMatchObject({ status: 'stopped', detail: null });
    expect(agentFailure(ended({}, 'max_turns'))).toMatchObject({ status: 'failed' });
  });

  test('is bounded, keeps both ends and tells its length', () => {
    const text = agentReport(ended({ text: `head${'x'.repeat(90_000)}tail` }));
    expect(text.length).toBeLessThan(MAX_REPORT_LENGTH + 500);
    expect(text).toContain('[… the report has 90008 characters; its middle is left out …]');
    expect(text).toMatch(/<agent-report>\nhead[\s\S]*tail\n<\/agent-report>$/);
  });

  test('contains no reserved tag except its own two', () => {
    const names = ['agent-report', 'system-reminder', 'untrusted', 'fork-task', 'аgent-report'];
    const pieces = fc.constantFrom('<', '</', '&lt;', '＜', ' ', '>', '\u200b', ...names);
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (words) => {
        const text = agentReport(ended({ text: `.${words.join('')}.` }))
          .split('\n')
          .slice(2, -1)
          .join('\n');
        expect(text).not.toMatch(
          /(?:<|&lt;|＜)[\s/]*(?:[аa]gent-report|system-reminder|untrusted|fork-task)/,
        );
      }),
    );
  });
});

describe('the letter about a background agent', () => {
  test('has a reason and the report', () => {
    expect(reportNotification(ended())).toBe(
      `[An agent that you started in the background has ended.]\n${agentReport(ended())}`,
    );
  });
});
