import { describe, expect, test } from 'vitest';
import { TopLines } from '../../../../src/cli/commands/swarm/top-lines.js';
import {
  agentView,
  asking,
  ended,
  leadView,
  swarmView,
} from '../../../fakes/agents/agent-views.js';

const setUp = () => {
  const lines: string[] = [];
  return { lines, topLines: new TopLines((line) => lines.push(line)) };
};

describe('the lines of skein top for screen readers', () => {
  test('report each change of state and no other changes', () => {
    const { lines, topLines } = setUp();
    const docs = agentView('a_docs', { name: 'docs' });
    topLines.update([swarmView([leadView(), docs])], null, false);
    topLines.update([swarmView([leadView(), { ...docs, turns: 9, costUsd: 3 }])], null, true);
    expect(lines).toEqual([]);
    topLines.update([swarmView([leadView(), { ...docs, ...asking('rm x') }])], null, true);
    topLines.update([swarmView([leadView(), { ...docs, ...ended('budget') }])], null, true);
    expect(lines).toEqual(['docs: awaiting-permission, asks: Bash rm x', 'docs: ended, budget']);
  });

  test('name a swarm that starts, and the swarm of an agent if there are several', () => {
    const { lines, topLines } = setUp();
    topLines.update([swarmView([leadView()])], null, false);
    topLines.update(
      [swarmView([leadView()]), swarmView([leadView()], { id: 's_two' })],
      null,
      true,
    );
    expect(lines).toEqual([
      's_two  running, pid 77  1 agent  $0.2500  mend the tests',
      'lead a_lead of s_two: streaming, the task of a_lead',
    ]);
  });

  test('report when the store is lost and when it is reachable again', () => {
    const { lines, topLines } = setUp();
    topLines.update([], 'Redis cannot be reached\u001b[2J', false);
    topLines.update([], 'Redis cannot be reached\u001b[2J', true);
    topLines.update([], null, true);
    expect(lines).toEqual(['Redis cannot be reached', 'The store can be reached again.']);
  });
});
