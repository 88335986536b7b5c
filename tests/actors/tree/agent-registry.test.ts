import { expect, test } from 'vitest';
import { AgentRegistry } from '../../../src/actors/tree/agent-registry.js';

const tag = (id: string, parent: string) => ({
  id,
  parent,
  kind: 'sync' as const,
  type: null,
  description: 'x' as const,
  call: 'c_1' as const,
  depth: 1,
});

test('agents of a damaged index that are parents of each other are below nobody', () => {
  const roster = new AgentRegistry();
  const one = roster.add(tag('a_1', 'a_2'), 'lost', 0);
  roster.add(tag('a_2', 'a_1'), 'lost', 0);
  expect(roster.isBelow(one, 'a_lead')).toBe(false);
});

test('long reports of many agents are kept at hand for the newest alone', () => {
  const roster = new AgentRegistry();
  const text = 'x'.repeat(1_000_000);
  const stop = { reason: 'end_turn', detail: null } as const;
  const entries = Array.from({ length: 10 }, (_, at) => {
    const entry = roster.add(tag(`a_${at}`, 'a_lead'), 'ended', 0);
    const figures = { turns: 1, cost: 0, tokens: 1, changedFiles: [] };
    roster.keepReport(entry, { agent: entry.tag, stop, text, ...figures });
    return entry;
  });
  const isAtHand = entries.map(({ report }) => report !== undefined);
  expect(isAtHand).toEqual([false, false, ...Array(8).fill(true)]);
});

test('a teammate owns its name while it rests, and when it has ended', () => {
  for (const status of ['idle', 'ended', 'lost'] as const) {
    const roster = new AgentRegistry();
    const ada = roster.add({ ...tag('a_1', 'a_lead'), kind: 'teammate', name: 'ada' }, status, 0);
    roster.add({ ...tag('a_2', 'a_lead'), name: 'ada' }, 'running', 0);
    expect(roster.find('ada')).toEqual([ada]);
    expect(() => roster.refuseTaken('ada')).toThrow('There is a teammate "ada" already');
  }
});

test('of others with one name those that are there are meant, else the newest', () => {
  const roster = new AgentRegistry();
  const add = (id: string, status: 'ended' | 'queued') =>
    roster.add({ ...tag(id, 'a_lead'), name: 'ada' }, status, 0);
  const older = add('a_1', 'ended');
  const newer = add('a_2', 'ended');
  expect(roster.find('ada')).toEqual([newer]);
  older.status = 'queued';
  expect(roster.find('ada')).toEqual([older]);
  expect(() => roster.refuseTaken('ada')).not.toThrow();
  expect(() => roster.reserve('ada')).toThrow('The agent a_1 has the name "ada" (queued)');
});
