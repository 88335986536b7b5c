import { describe, expect, test } from 'vitest';
import { agentWaitWords, waitWords } from '../../../src/terminal/format/format-wait.js';
import { type AgentWait, WAIT_KINDS } from '../../../src/views/swarm/agent-wait.js';

const wait = (kind: AgentWait['kind'], more: Partial<AgentWait> = {}): AgentWait => ({
  kind,
  detail: null,
  since: 0,
  agents: [],
  count: 1,
  ...more,
});

describe('why an agent waits', () => {
  test.each<[string, AgentWait]>([
    ['asks: Bash rm x (+1)', wait('permission', { detail: 'Bash rm x', count: 2 })],
    ['waits for docs', wait('child', { detail: 'docs', agents: ['a_2'] })],
    ['waits for docs and 4 more', wait('child', { detail: 'docs', count: 5 })],
    ['waits for the model', wait('model', { detail: 'claude' })],
    ["waits for the provider's rate limit to pass", wait('rate-limit', { detail: 'slow' })],
    ['waits for a place among the requests in flight', wait('requests')],
    ['waits for money that other requests have set aside', wait('budget')],
    ['waits for another agent to cache what both begin with', wait('warming')],
    ['waits for something unknown', wait('unknown')],
    ['waits for a place among the agents that work at once', wait('place')],
    ['waits for a worker', wait('worker')],
    ['waits: No git here.', wait('worker', { detail: 'No git here.' })],
    ['tries again soon: Overloaded.', wait('retry', { detail: 'Overloaded.' })],
    ['tries again soon', wait('retry')],
    ['waits until a_2 is done with the tree /r', wait('lock', { detail: '/r', agents: ['a_2'] })],
    ['waits until another agent is done with the tree /r', wait('lock', { detail: '/r' })],
  ])('is said as "%s"', (words, reason) => {
    expect(agentWaitWords(reason)).toBe(words);
  });

  test.each(WAIT_KINDS)('%s is one harmless line, whatever its words are', (kind) => {
    const evil = '\u001B]0;x\u0007\u001B[2J\nline\u202E';
    expect(agentWaitWords(wait(kind, { detail: evil, agents: [evil] }))).not.toMatch(
      /[\p{Cc}\u202E]|undefined/u,
    );
  });

  test('of a request is also said of what nobody knows', () => {
    expect(waitWords('cheese')).toBe('something unknown');
  });
});
