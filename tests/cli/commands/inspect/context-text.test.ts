import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { contextText } from '../../../../src/cli/commands/inspect/context-text.js';
import type { ContextWindowReport } from '../../../../src/sdk/sessions/context-window-report.js';

const STYLE = { width: 60, unicode: true, coloured: false };

/** Report of a half-full window of 200,000 tokens. */
const reportWith = (more: Partial<ContextWindowReport> = {}): ContextWindowReport => {
  const part = (kind: ContextWindowReport['parts'][number]['kind'], tokens: number) => {
    return { kind, tokens, percent: tokens / 2_000, estimatedTokens: tokens };
  };
  return {
    session: 's_1',
    agent: 'a_1',
    model: 'claude-haiku-4-5',
    window: 200_000,
    usable: 180_000,
    warnAbove: 147_000,
    compactAbove: 167_000,
    usedPercent: 50,
    usedTokens: 100_000,
    countedTokens: 99_000,
    freeTokens: 100_000,
    parts: [
      part('system', 10_000),
      part('tools', 20_000),
      part('memory', 0),
      part('messages', 30_000),
      part('results', 40_000),
      part('free', 100_000),
    ],
    exceeded: [],
    messages: 9,
    turns: 4,
    sections: [],
    tools: [],
    notices: [],
    ...more,
  };
};

describe('the chart of a context window', () => {
  test('has a bar, a ruler and a row for each kind', () => {
    const [, , bar, ruler, , ...rest] = contextText(reportWith(), STYLE).split('\n');
    expect(bar).toBe(
      ` ${'█'.repeat(3)}${'▓'.repeat(6)}${'▚'.repeat(9)}${'░'.repeat(11)}${'·'.repeat(29)}`,
    );
    expect(ruler).toBe(`${' '.repeat(43)}w     c`);
    expect(rest.slice(0, 7)).toEqual([
      '                  tokens   window  side by side',
      ' █ system         10,000    5.0 %  ██████',
      ' ▓ tools          20,000   10.0 %  ▓▓▓▓▓▓▓▓▓▓▓▓',
      ' ▒ memory              0    0.0 %',
      ' ▚ messages       30,000   15.0 %  ▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚',
      ' ░ tool results   40,000   20.0 %  ░░░░░░░░░░░░░░░░░░░░░░░░',
      ' · free          100,000   50.0 %',
    ]);
  });

  test('separates counted tokens from estimated tokens', () => {
    const textOf = (more: Partial<ContextWindowReport>) =>
      contextText(reportWith(more), { ...STYLE, width: 1_000 });
    expect(textOf({})).toContain(
      '100,000 tokens: 99,000 counted by the server with the last answer, about 1,000 estimated for later messages.',
    );
    expect(textOf({ countedTokens: 100_000 })).toContain(
      '100,000 tokens, counted by the server with the last answer. The kinds are estimated at four bytes per token',
    );
    expect(textOf({ countedTokens: 0, turns: 0 })).toContain('the session has no answer yet');
    expect(textOf({ countedTokens: 0 })).toContain('no answer has a count of them yet');
    expect(textOf({ session: null })).toContain(
      'A new session here would start with about 100,000',
    );
  });

  test('names the limits that are exceeded', () => {
    const exceeded = [
      { kind: 'system', share: 40_000 },
      { kind: 'tools', share: 30_000 },
      { kind: 'output', share: 30_000 },
    ] as const;
    const text = contextText(reportWith({ exceeded }), { ...STYLE, width: 1_000 });
    expect(text).toContain('The system prompt has more than a fifth of the window (40,000 tokens)');
    expect(text).toContain('The tools have more than 15 % of the window (30,000 tokens)');
    expect(text).toContain('Less than 15 % of the window (30,000 tokens) is free');
  });

  test.each([40, 60, 80, 120])('fits %i columns', (width) => {
    const notices = ['A sentence of several words, which is longer than a line may be here.'];
    const lines = contextText(reportWith({ notices }), { ...STYLE, width }).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  });

  test('is pure ASCII without Unicode and has the same text with colours', () => {
    const plain = contextText(reportWith(), { ...STYLE, unicode: false });
    expect(Buffer.from(plain).every((byte) => byte < 0x80)).toBe(true);
    const coloured = contextText(reportWith(), { ...STYLE, coloured: true });
    expect(coloured).toContain('\u001b[34m███\u001b[0m');
    expect(stripVTControlCharacters(coloured)).toBe(contextText(reportWith(), STYLE));
  });

  test('shows the thresholds inside a prompt that is longer than the window', () => {
    const report = reportWith({ usedTokens: 400_000, usedPercent: 200, freeTokens: 0 });
    const [, , , ruler] = contextText(report, STYLE).split('\n');
    expect(ruler).toBe(`${' '.repeat(22)}w  c`);
  });

  test('keeps the thresholds apart if they coincide', () => {
    const report = reportWith({ warnAbove: 167_000 });
    expect(contextText(report, STYLE).split('\n')[3]).toMatch(/^ +wc$/);
  });

  test('strips escape sequences from the model name', () => {
    expect(contextText(reportWith({ model: '\u001B[31mhaiku' }), STYLE)).toMatch(
      /^haiku: 50.0 % of 200,000 /,
    );
  });
});
