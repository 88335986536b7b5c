import { describe, expect, test } from 'vitest';
import { StateTeller } from '../../../../src/cli/commands/swarm/top-lines.js';
import {
  agentView,
  asking,
  ended,
  leadView,
  swarmView,
} from '../../../fakes/agents/agent-views.js';

const told = () => {
  const lines: string[] = [];
  return { lines, teller: new StateTeller((line) => lines.push(line)) };
};

describe('a swarm for those who listen', () => {
  test('is told in a line for each change of state, and in none for anything else', () => {
    const { lines, teller } = told();
    const docs = agentView('a_docs', { name: 'docs' });
    teller.take([swarmView([leadView(), docs])], null, false);
    teller.take([swarmView([leadView(), { ...docs, turns: 9, costUsd: 3 }])], null, true);
    expect(lines).toEqual([]);
    teller.take([swarmView([leadView(), { ...docs, ...asking('rm x') }])], null, true);
    teller.take([swarmView([leadView(), { ...docs, ...ended('budget') }])], null, true);
    expect(lines).toEqual(['docs: awaiting-permission, asks: Bash rm x', 'docs: ended, budget']);
  });

  test('is named where there are several, and when it begins', () => {
    const { lines, teller } = told();
    teller.take([swarmView([leadView()])], null, false);
    teller.take([swarmView([leadView()]), swarmView([leadView()], { id: 's_two' })], null, true);
    expect(lines).toEqual([
      's_two  running, pid 77  1 agent  $0.2500  mend the tests',
      'lead a_lead of s_two: streaming, the task of a_lead',
    ]);
  });

  test('tells when the store is gone and when it is back', () => {
    const { lines, teller } = told();
    teller.take([], 'Redis cannot be reached\u001b[2J', false);
    teller.take([], 'Redis cannot be reached\u001b[2J', true);
    teller.take([], null, true);
    expect(lines).toEqual(['Redis cannot be reached', 'It can be reached again.']);
  });
});
