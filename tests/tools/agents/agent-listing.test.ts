import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentListing } from '../../../src/tools/agents/agent-listing.js';

const agentsOf = (count: number, description = 'Looks') =>
  Array.from({ length: count }, (_, index) => ({ name: `agent-${index}`, description }));

describe('the agent listing for a model', () => {
  test('has a line for each agent', () => {
    const agents = [
      { name: 'explorer', description: 'Finds things.' },
      { name: 'poet', description: '  Writes\n\n- "verses":\u0007 of all kinds ' },
    ];
    expect(agentListing(agents)).toBe(
      '- explorer: Finds things.\n- poet: Writes - "verses": of all kinds',
    );
    expect(agentListing([])).toBe('');
  });

  test('has at most 40 agents and the number of omitted agents', () => {
    expect(agentListing(agentsOf(40)).split('\n')).toHaveLength(40);
    const lines = agentListing(agentsOf(43)).split('\n');
    expect(lines).toHaveLength(41);
    expect(lines.at(-1)).toBe('- and 3 more that are not listed here');
  });

  test('limits the length of a description', () => {
    const [long, next] = agentListing([
      ...agentsOf(1, 'very '.repeat(1_000)),
      ...agentsOf(1),
    ]).split('\n');
    expect(long).toHaveLength('- agent-0: '.length + 300);
    expect(long).toMatch(/ …$|y…$/);
    expect(next).toBe('- agent-0: Looks');
  });

  test('is bounded and well-formed, and counts every agent', () => {
    const name = fc.stringMatching(/^\w{1,64}$/);
    const description = fc.string({ unit: 'binary', maxLength: 700 });
    const agents = fc.array(fc.record({ name, description }), { maxLength: 60 });
    fc.assert(
      fc.property(agents, (given) => {
        const text = agentListing(given);
        expect(text.length).toBeLessThanOrEqual(4_000 + 40);
        expect(text.isWellFormed()).toBe(true);
        const lines = text === '' ? [] : text.split('\n');
        const omitted = Number(/^- and (\d+) more/.exec(lines.at(-1) ?? '')?.[1] ?? 0);
        expect(lines.length - (omitted > 0 ? 1 : 0) + omitted).toBe(given.length);
      }),
    );
  });
});
