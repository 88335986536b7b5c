import { describe, expect, test } from 'vitest';
import { EVENT_TYPES, type SwarmEvent } from '../../../src/protocol/session/events.js';
import { eventWords } from '../../../src/terminal/format/format-event.js';

/** The words for an event that has these facts. */
const say = (type: string, facts: object = {}): string => {
  const head = { v: 1, seq: 1, ts: 1, swarm: 's_1', agent: 'a_1', parent: null, cites: { seq: 1 } };
  return eventWords({ ...head, type, ...facts } as unknown as SwarmEvent);
};

const usage = { input: 10, output: 5, cacheRead: 1_000, cacheWrite5m: 0, cacheWrite1h: 0 };

describe('an event in plain words', () => {
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
    ['letter.undelivered', { to: 'a_2', reason: 'refused' }, 'did not reach a_2: refused'],
    [
      'agent.restarted',
      { reason: 'The agent failed unexpectedly: x', attempt: 2, delayMs: 2_000 },
      'begins again in 2.0 s, attempt 2: The agent failed unexpectedly: x',
    ],
    [
      'hook.ran',
      { event: 'PreToolUse', hook: './check', outcome: 'blocked', durationMs: 20, detail: 'No.' },
      'hook ./check of PreToolUse ran, blocked, in 20 ms: No.',
    ],
    [
      'request.queued',
      { purpose: 'turn', call: null, why: 'requests' },
      'the request for the next turn waits for a place among the requests in flight',
    ],
    [
      'request.queued',
      { purpose: 'web-page', call: 'c_1', why: 'no such reason' },
      'the request for web-page waits for something unknown',
    ],
    ['files.watched', { call: 'c_1' }, 'the files that c_1 may change are kept'],
    ['tool.started', { tool: 'Bash', description: 'npm test' }, 'Bash began: npm test'],
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
      'requests look like this from here on: model m, betas none, effort low, thinking none, ttl 5m, 2 tools, 1 section',
    ],
    [
      'agent.stopped',
      { reason: 'budget', turns: 1, detail: 'Spent.' },
      'agent stopped, budget, after 1 turn: Spent.',
    ],
    [
      'consultation.ended',
      { purpose: 'page', outcome: 'ok', durationMs: 5, usage, cost: null },
      'a model was consulted for page, ok, in 5 ms: 1,010 tokens in (1,000 cached), 5 out, cost unknown',
    ],
    ['consultation.started', { purpose: 'page', model: 'm' }, 'm is consulted for page'],
    [
      'lock.awaited',
      { place: '/repo', holder: 'a_2' },
      'waits until a_2 is done with the tree /repo',
    ],
    [
      'lock.awaited',
      { place: '/repo', holder: null, child: 'a_3' },
      'a_3 waits until another agent is done with the tree /repo',
    ],
    ['goose.honked', { volume: 11 }, 'goose.honked {"volume":11}'],
  ])('says what %s was', (type, facts, words) => {
    expect(say(type, facts)).toBe(words);
  });

  test.each(EVENT_TYPES)('of %s is one line, whatever its values are', (type) => {
    const evil = '\u001B]0;x\u0007\u001B[2J\nline\u202E';
    const keys = ['cwd', 'model', 'tool', 'reason', 'rule', 'file', 'message', 'kind', 'agent'];
    const others = ['description', 'detail', 'what', 'section', 'purpose', 'outcome', 'from'];
    const facts = Object.fromEntries([...keys, ...others].map((key) => [key, evil]));
    for (const hostile of [facts, {}, { usage: { input: evil }, cost: evil, turn: evil }]) {
      const words = say(type, hostile);
      expect(words).not.toMatch(/[\p{Cc}\u202E]|NaN|undefined/u);
      expect(words.length).toBeGreaterThan(3);
    }
  });
});
