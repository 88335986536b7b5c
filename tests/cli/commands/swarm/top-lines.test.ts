import { describe, expect, test } from 'vitest';
import { TopLines } from '../../../../src/cli/commands/swarm/top-lines.js';
import {
  agentView,
  asking,
  ended,
  leadView,
  swarmView,
} from '../../../fakes/agents/agent-views.js';

const told = () => {
  const lines: string[] = [];
  return { lines, teller: new TopLines((line) => lines.push(line)) };
};

describe('a swarm for screen readers', () => {
  test('has a line for each change of state, and no other lines', () => {
    const { lines, teller } = told();
    const docs = agentView('a_docs', { name: 'docs' });
    teller.update([swarmView([leadView(), docs])], null, false);
    teller.update([swarmView([leadView(), { ...docs, turns: 9, costUsd: 3 }])], null, true);
    expect(lines).toEqual([]);
    teller.update([swarmView([leadView(), { ...docs, ...asking('rm x') }])], null, true);
    teller.update([swarmView([leadView(), { ...docs, ...ended('budget') }])], null, true);
    expect(lines).toEqual(['docs: awaiting-permission, asks: Bash rm x', 'docs: ended, budget']);
  });

  test('is named if there are several, and when it starts', () => {
    const { lines, teller } = told();
    teller.update([swarmView([leadView()])], null, false);
    teller.update([swarmView([leadView()]), swarmView([leadView()], { id: 's_two' })], null, true);
    expect(lines).toEqual([
      's_two  running, pid 77  1 agent  $0.2500  mend the tests',
      'lead a_lead of s_two: streaming, the task of a_lead',
    ]);
  });

  test('tells when the store is gone and when it is back', () => {
    const { lines, teller } = told();
    teller.update([], 'Redis cannot be reached\u001b[2J', false);
    teller.update([], 'Redis cannot be reached\u001b[2J', true);
    teller.update([], null, true);
    expect(lines).toEqual(['Redis cannot be reached', 'The store can be reached again.']);
  });
});
