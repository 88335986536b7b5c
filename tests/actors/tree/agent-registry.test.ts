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

test('agents that are parents of each other in a damaged index are not below the lead', () => {
  const registry = new AgentRegistry();
  const first = registry.add(tag('a_1', 'a_2'), 'lost', 0);
  registry.add(tag('a_2', 'a_1'), 'lost', 0);
  expect(registry.isBelow(first, 'a_lead')).toBe(false);
});

test('the registry keeps long reports of the newest agents only', () => {
  const registry = new AgentRegistry();
  const text = 'x'.repeat(1_000_000);
  const stop = { reason: 'end_turn', detail: null } as const;
  const entries = Array.from({ length: 10 }, (_, at) => {
    const entry = registry.add(tag(`a_${at}`, 'a_lead'), 'ended', 0);
    const figures = { turns: 1, cost: 0, tokens: 1, changedFiles: [] };
    registry.keepReport(entry, { agent: entry.tag, stop, text, ...figures });
    return entry;
  });
  const hasReport = entries.map(({ report }) => report !== undefined);
  expect(hasReport).toEqual([false, false, ...Array(8).fill(true)]);
});

test('a teammate keeps its name when it is idle, ended or lost', () => {
  for (const status of ['idle', 'ended', 'lost'] as const) {
    const registry = new AgentRegistry();
    const ada = registry.add({ ...tag('a_1', 'a_lead'), kind: 'teammate', name: 'ada' }, status, 0);
    registry.add({ ...tag('a_2', 'a_lead'), name: 'ada' }, 'running', 0);
    expect(registry.find('ada')).toEqual([ada]);
    expect(() => registry.refuseTaken('ada')).toThrow('There is a teammate "ada" already');
  }
});

test('a shared name finds the live agent, else the newest agent', () => {
  const registry = new AgentRegistry();
  const add = (id: string, status: 'ended' | 'queued') =>
    registry.add({ ...tag(id, 'a_lead'), name: 'ada' }, status, 0);
  const older = add('a_1', 'ended');
  const newer = add('a_2', 'ended');
  expect(registry.find('ada')).toEqual([newer]);
  older.status = 'queued';
  expect(registry.find('ada')).toEqual([older]);
  expect(() => registry.refuseTaken('ada')).not.toThrow();
  expect(() => registry.reserve('ada')).toThrow('The agent a_1 has the name "ada" (queued)');
});
