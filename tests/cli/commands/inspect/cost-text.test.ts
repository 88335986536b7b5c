import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { costText, shortCostText } from '../../../../src/cli/commands/inspect/cost-text.js';
import { requestCost } from '../../../../src/protocol/model/request-cost.js';
import { NO_USAGE } from '../../../../src/protocol/model/usage.js';
import type { SwarmEvent } from '../../../../src/protocol/session/swarm-event.js';
import { SessionCostFold } from '../../../../src/views/cost/session-cost.js';

const STYLE = { width: 80, unicode: true, coloured: false };

const MISS = {
  type: 'cache.broken' as const,
  turn: 2,
  attempt: 1,
  cause: 'tools' as const,
  expected: false,
  owner: 'mcp__docs__find',
  byte: 7,
  cachedTokens: 40_000,
  readTokens: 4_000,
  detail: 'The description of mcp__docs__find differs at byte 7.',
  diagnosis: 'tools_changed',
};

/** Session of two turns with the given additions. */
const reportWith = (...more: readonly Partial<SwarmEvent>[]) => {
  const ledger = new SessionCostFold();
  const answer = (turn: number, cacheRead: number, cacheWrite5m: number) => {
    const usage = { ...NO_USAGE, input: 1_000, output: 200, cacheRead, cacheWrite5m };
    const model = 'claude-sonnet-4-5';
    const paid = { model, usage, cost: requestCost(model, usage) ?? null };
    return { type: 'turn.ended', turn, attempt: 1, ...paid } as const;
  };
  for (const fact of [answer(1, 0, 40_000), answer(2, 4_000, 37_000), ...more]) {
    const head = { v: 1, seq: 1, ts: 1, swarm: 's_1', agent: 'a_1', parent: null } as const;
    ledger.take({ ...head, cites: { seq: 1 }, type: 'run.started', ...fact });
  }
  return ledger.report();
};

describe('the cost text', () => {
  test('shows the share of tokens read from the cache, in words and as a bar', () => {
    const text = costText(reportWith(), false, STYLE);
    expect(text).toContain('Of 83,000 input tokens 4.8 % were read from the cache:\n');
    expect(text).toMatch(/^ {2}read {6}4,000 {2}█·{23}$/m);
    expect(text).toMatch(/^ {2}written {2}77,000 {2}█{22}··$/m);
    expect(text).toContain('No cache miss was recorded.');
  });

  test('lists each cause with its count, owner and cost', () => {
    expect(costText(reportWith(MISS), false, STYLE)).toContain(
      [
        'Cache misses: 1, 1 unexpected. 36,000 tokens not read again, about $0.1242 more.',
        '  the tools changed (tools): once, unexpected. 36,000 tokens not read again,',
        '  about $0.1242 more.',
        '      Owner: mcp__docs__find',
        '      The description of mcp__docs__find differs at byte 7.',
        '      The server says: tools_changed',
        '',
      ].join('\n'),
    );
  });

  test('marks expected misses', () => {
    const text = costText(
      reportWith({ ...MISS, cause: 'compaction', expected: true }),
      false,
      STYLE,
    );
    expect(text).toContain('Cache misses: 1, none unexpected.');
    expect(text).toContain('older messages were summarised (compaction): once, expected.');
  });

  test('names five owners and counts the rest', () => {
    const misses = Array.from({ length: 8 }, (_, index) => ({ ...MISS, owner: `tool${index}` }));
    expect(costText(reportWith(...misses), false, STYLE)).toMatch(
      /Owner: tool0, tool1, tool2, tool3, tool4, 3 more/,
    );
  });

  test.each([60, 80, 160])('keeps within %i columns', (width) => {
    const long = { ...MISS, detail: 'word '.repeat(200), owner: 'x'.repeat(500) };
    const text = costText(reportWith(long, MISS), true, { ...STYLE, width });
    // A word that is longer than a line cannot be wrapped.
    const lines = text.split('\n').filter((line) => !line.includes('xxx'));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    expect(text).toContain('cache read');
  });

  test('strips control characters from the owner and the detail of a miss', () => {
    const hostileText = '\u001B]0;owned\u0007\u001B[2Jfind\u202E';
    const text = costText(
      reportWith({ ...MISS, owner: hostileText, detail: hostileText, diagnosis: hostileText }),
      false,
      STYLE,
    );
    for (const sign of ['\u001B', '\u0007', '\u202E']) expect(text).not.toContain(sign);
    expect(text).toContain('Owner: find');
  });

  test('has a short form with a line for the share and for each cause', () => {
    const text = shortCostText(reportWith(MISS), 2, { ...STYLE, width: 120 });
    expect(text).toMatch(/^2 turns, cost \$0\.\d{4}\n2,000 tokens in, 77,000 written/);
    expect(text).toContain('█······················· 4.8 % of input read from the cache\n');
    expect(text).toContain('Miss: the tools changed, unexpected, once, 36,000 tokens\n');
    expect(shortCostText(reportWith(), 2, STYLE)).not.toContain('Miss');
    const coloured = shortCostText(reportWith(MISS), 2, { ...STYLE, width: 60, coloured: true });
    expect(stripVTControlCharacters(coloured)).toBe(
      shortCostText(reportWith(MISS), 2, { ...STYLE, width: 60 }),
    );
  });

  test('has a table of agents from two agents on, and sums up the agents after the limit', () => {
    expect(costText(reportWith(), false, STYLE)).not.toContain('agent');
    const usage = { ...NO_USAGE, output: 100 };
    const origin = { kind: 'sync', type: 'explorer', name: 'scout', description: '', depth: 1 };
    const work = (agent: string) => [
      { type: 'agent.spawned', agent, parent: 'a_1', origin } as const,
      {
        type: 'turn.ended',
        agent,
        parent: 'a_1',
        model: 'claude-sonnet-4-5',
        usage,
        cost: 0.01,
      } as const,
    ];
    const two = costText(reportWith(...work('a_2')), false, STYLE);
    expect(two).toMatch(/^agent +requests +output +cache read +cache write +misses +cost$/m);
    expect(two).toMatch(/^lead +2 +400 +4,000 +77,000 +0 +\$/m);
    expect(two).toMatch(/^explorer scout +1 +100 +0 +0 +0 +\$0\.0100$/m);
    const many = Array.from({ length: 30 }, (_, at) => work(`b_${at}`)).flat();
    expect(costText(reportWith(...many), false, STYLE)).toContain('11 more agents: $0.1100.');
  });
});
