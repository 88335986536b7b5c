import { describe, expect, test } from 'vitest';
import { formatAgentWait, formatWait } from '../../../src/terminal/format/format-wait.js';
import { type AgentWait, WAIT_KINDS } from '../../../src/views/swarm/agent-wait.js';

const wait = (kind: AgentWait['kind'], more: Partial<AgentWait> = {}): AgentWait => ({
  kind,
  detail: null,
  since: 0,
  agents: [],
  count: 1,
  ...more,
});

describe('the text of a wait', () => {
  test.each<[string, AgentWait]>([
    ['asks: Bash rm x (+1)', wait('permission', { detail: 'Bash rm x', count: 2 })],
    ['waits for docs', wait('child', { detail: 'docs', agents: ['a_2'] })],
    ['waits for docs and 4 more', wait('child', { detail: 'docs', count: 5 })],
    ['waits for the model', wait('model', { detail: 'claude' })],
    ["waits for the provider's rate limit to pass", wait('rate-limit')],
    ['waits for a request slot', wait('requests')],
    ['waits for money that other requests have reserved', wait('budget')],
    ['waits for another agent to cache the shared prefix', wait('warming')],
    ['waits for an unknown reason', wait('unknown')],
    ['waits for a slot among the running agents', wait('place')],
    ['waits for a worker', wait('worker')],
    ['waits: No git here.', wait('worker', { detail: 'No git here.' })],
    ['retries: Overloaded.', wait('retry', { detail: 'Overloaded.' })],
    ['retries soon', wait('retry')],
    [
      "waits for the provider's rate limit to pass: attempt 2 of 3",
      wait('rate-limit', { detail: 'attempt 2 of 3' }),
    ],
    ['waits for a_2 to release the tree /r', wait('lock', { detail: '/r', agents: ['a_2'] })],
    ['waits for another agent to release the tree /r', wait('lock', { detail: '/r' })],
  ])('is "%s"', (expected, reason) => {
    expect(formatAgentWait(reason)).toBe(expected);
  });

  test.each(WAIT_KINDS)('is a single line without control characters for the kind %s', (kind) => {
    const hostileText = '\u001B]0;x\u0007\u001B[2J\nline\u202E';
    expect(formatAgentWait(wait(kind, { detail: hostileText, agents: [hostileText] }))).not.toMatch(
      /[\p{Cc}\u202E]|undefined/u,
    );
  });

  test('has a default for an unknown reason', () => {
    expect(formatWait('cheese')).toBe('an unknown reason');
  });
});
