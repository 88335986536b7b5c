import { describe, expect, test } from 'vitest';
import { EVENT_TYPES, type SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { formatEvent } from '../../../src/terminal/format/format-event.js';

/** Formats an event with these fields. */
const textOf = (type: string, facts: object = {}): string => {
  const head = { v: 1, seq: 1, ts: 1, swarm: 's_1', agent: 'a_1', parent: null, cites: { seq: 1 } };
  return formatEvent({ ...head, type, ...facts } as unknown as SwarmEvent);
};

const usage = { input: 10, output: 5, cacheRead: 1_000, cacheWrite5m: 0, cacheWrite1h: 0 };

describe('the text of an event', () => {
  test.each([
    [
      'turn.started',
      { turn: 2, attempt: 3, model: 'm', estimatedTokens: 1_200 },
      'turn 2 asked of m again, attempt 3, with about 1,200 tokens',
    ],
    [
      'turn.ended',
      { turn: 2, durationMs: 1_500, stopReason: 'end_turn', usage, cost: 0.01 },
      'turn 2 answered in 1.5 s, end_turn: 1,010 tokens in (1,000 cached), 5 out, $0.0100',
    ],
    [
      'turn.failed',
      { turn: 2, attempt: 1, kind: 'overloaded', status: 529, message: 'Busy.' },
      'turn 2 failed, attempt 1 (overloaded, HTTP 529): Busy.',
    ],
    [
      'retry.scheduled',
      { attempt: 3, attempts: 11, durationMs: 1_500 },
      'attempt 3 of 11 starts in 1.5 s',
    ],
    [
      'permission.ruled',
      {
        tool: 'Bash',
        behavior: 'deny',
        step: 'deny',
        reason: 'No.',
        rule: 'Bash(rm:*)',
        file: '/etc/x.json',
        source: 'policy',
      },
      'Bash denied at deny by Bash(rm:*) of /etc/x.json: No.',
    ],
    [
      'permission.ruled',
      { tool: 'Read', behavior: 'allow', step: 'mode', reason: 'Free.' },
      'Read allowed at mode: Free.',
    ],
    [
      'permission.ruled',
      {
        tool: 'Bash',
        behavior: 'allow',
        step: 'allow',
        reason: 'Yes.',
        rule: 'Bash',
        file: '/etc/x.json',
        line: 4,
        source: 'policy',
      },
      'Bash allowed at allow by Bash of /etc/x.json:4: Yes.',
    ],
    ['tool.ended', { tool: 'Read', outcome: 'ok', durationMs: 20 }, 'Read ended, ok, in 20 ms'],
    [
      'tool.ended',
      { tool: 'Read', outcome: 'ok', durationMs: 20, repeated: 3 },
      'Read ended, ok, in 20 ms, the same 3 times in a row',
    ],
    [
      'letter.undelivered',
      { to: 'a_2', reason: 'refused' },
      'message to a_2 was not delivered: refused',
    ],
    [
      'agent.restarted',
      { reason: 'The agent failed unexpectedly: x', attempt: 2, delayMs: 2_000 },
      'restarts in 2.0 s, attempt 2: The agent failed unexpectedly: x',
    ],
    [
      'hook.ran',
      { event: 'PreToolUse', hook: './check', outcome: 'blocked', durationMs: 20, detail: 'No.' },
      'hook ./check of PreToolUse ran, blocked, in 20 ms: No.',
    ],
    [
      'request.queued',
      { purpose: 'turn', call: null, why: 'requests' },
      'the request for the next turn waits for a request slot',
    ],
    [
      'request.queued',
      { purpose: 'web-page', call: 'c_1', why: 'no such reason' },
      'the request for web-page waits for an unknown reason',
    ],
    ['files.watched', { call: 'c_1' }, 'saved the files that c_1 may change'],
    ['tool.started', { tool: 'Bash', description: 'npm test' }, 'Bash started: npm test'],
    [
      'tool.ended',
      { tool: 'Bash', outcome: 'error', durationMs: 12 },
      'Bash ended, error, in 12 ms',
    ],
    [
      'context.compacted',
      { reason: 'summary', tokensBefore: 9_000, tokensAfter: 800 },
      'context compacted (summary): from about 9,000 to 800 tokens',
    ],
    [
      'cache.broken',
      {
        cause: 'tools',
        owner: 'Read',
        expected: false,
        detail: 'It differs.',
        cachedTokens: 9_000,
        readTokens: 800,
      },
      'the cache missed 8,200 tokens by accident (tools, Read): It differs.',
    ],
    [
      'request.shaped',
      {
        shape: {
          model: 'm',
          betas: 'none',
          effort: 'low',
          thinking: 'none',
          ttl: '5m',
          tools: 'Read\nGrep',
          'tool Read': 'ab12',
          'tool Grep': 'cd34',
          'section intro': 'e',
        },
      },
      'request settings from now on: model m, betas none, effort low, thinking none, ttl 5m, 2 tools, 1 section',
    ],
    [
      'agent.stopped',
      { reason: 'budget', turns: 1, detail: 'Spent.' },
      'agent stopped, budget, after 1 turn: Spent.',
    ],
    [
      'consultation.ended',
      { purpose: 'page', outcome: 'ok', durationMs: 5, usage, cost: null },
      'side request for page ended, ok, in 5 ms: 1,010 tokens in (1,000 cached), 5 out, cost unknown',
    ],
    ['consultation.started', { purpose: 'page', model: 'm' }, 'side request to m for page started'],
    ['lock.awaited', { place: '/repo', holder: 'a_2' }, 'waits for a_2 to release the tree /repo'],
    [
      'lock.awaited',
      { place: '/repo', holder: null, child: 'a_3' },
      'a_3 waits for another agent to release the tree /repo',
    ],
    ['goose.honked', { volume: 11 }, 'goose.honked {"volume":11}'],
  ])('describes %s', (type, facts, expected) => {
    expect(textOf(type, facts)).toBe(expected);
  });

  test.each(EVENT_TYPES)(
    'is a single line without control characters for %s with hostile values',
    (type) => {
      const hostileText = '\u001B]0;x\u0007\u001B[2J\nline\u202E';
      const keys = ['cwd', 'model', 'tool', 'reason', 'rule', 'file', 'message', 'kind', 'agent'];
      const moreKeys = ['description', 'detail', 'what', 'section', 'purpose', 'outcome', 'from'];
      const facts = Object.fromEntries([...keys, ...moreKeys].map((key) => [key, hostileText]));
      for (const hostile of [
        facts,
        {},
        { usage: { input: hostileText }, cost: hostileText, turn: hostileText },
      ]) {
        const text = textOf(type, hostile);
        expect(text).not.toMatch(/[\p{Cc}\u202E]|NaN|undefined/u);
        expect(text.length).toBeGreaterThan(3);
      }
    },
  );
});
