import { describe, expect, test } from 'vitest';
import { AgentRelations } from '../../../src/context/history/agent-relations.js';
import { applyRewound } from '../../../src/context/history/conversation-records.js';
import { History } from '../../../src/context/history/history.js';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import type { Settlement } from '../../../src/protocol/tools/worktrees.js';

const folded = (...bodies: readonly JournalBody[]): AgentRelations => {
  const relations = new AgentRelations();
  bodies.forEach((body, at) => {
    relations.apply({ v: 1, seq: at + 1, ts: 0, epoch: 1, ...body } as JournalRecord);
  });
  return relations;
};

const ended = (tool: string, path: string): JournalBody => ({
  type: 'call.ended',
  turn: 0,
  attempt: 0,
  call: 'c',
  tool,
  outcome: 'ok',
  durationMs: 0,
  notes: [{ type: 'file.seen', path, stamp: { digest: 'd', mtimeMs: 0, size: 0 } }],
  raw: '{}',
});

describe('the worktree of an agent', () => {
  const worktree = { path: '/s/w', branch: 'agent/a', base: 'b0', top: '/repo', cwd: '/s/w' };
  const created: JournalBody = {
    type: 'agent.created',
    agent: 'a',
    parent: 'l',
    cwd: '/s/w',
    model: 'm',
    prompt: 'p',
    origin: { kind: 'sync', type: 'x', description: 'd', call: 'c', depth: 1, worktree },
  };
  const settled = (outcome: Settlement): JournalBody => ({ type: 'worktree.settled', outcome });
  const merged: Settlement = { kind: 'merged', files: ['src/a.ts'], commit: 'c1' };

  test('after a merge counts as changed in the parent tree and has the merge commit', () => {
    const relations = folded(created, settled(merged));
    expect([...relations.changedFiles]).toEqual(['/repo/src/a.ts']);
    expect(relations).toMatchObject({ mergedAt: 'c1', settled: { outcome: merged } });
  });

  test('is unsettled after a restart, and a conflict changes no files', () => {
    expect(folded(created, settled(merged), { type: 'run.started', run: 2 })).toMatchObject({
      mergedAt: 'c1',
      settled: null,
    });
    const conflict: Settlement = { kind: 'conflict', files: ['a'], commit: 'c2', conflicts: [] };
    expect([...folded(created, settled(conflict)).changedFiles]).toEqual([]);
  });

  test('has the files that file tools wrote, without files that were only read', () => {
    const relations = folded(created, ended('Read', '/s/w/a'), ended('Write', '/s/w/b'));
    expect([...relations.writtenFiles]).toEqual(['/s/w/b']);
  });
});

describe('an answer of an agent', () => {
  const letter = 'answer_plan_a_2';
  const sent: JournalBody = {
    type: 'letter.sent',
    letter,
    to: 'a_2',
    call: 'c1',
    kind: 'plan_approval_response',
  };
  const lost: JournalBody = { type: 'letter.undelivered', letter, to: 'a_2', reason: 'lost' };
  const resultSent: JournalBody = { type: 'user.sent', parts: [{ call: 'c1' }] };

  test.each<[string, readonly JournalBody[], string, boolean]>([
    ['prevents another call from answering again', [sent], 'c2', true],
    ['may be repeated by its own call', [sent], 'c1', false],
    ['prevents a later call with the same id from answering again', [sent, resultSent], 'c1', true],
    ['does not count if it did not arrive', [sent, lost, resultSent], 'c2', false],
  ])('%s', (_, bodies, call, isGiven) => {
    expect(folded(...bodies).hasAnswered(letter, call)).toBe(isGiven);
  });

  test('counts after the conversation was rewound too', () => {
    const history = new History();
    applyRewound(history, { v: 1, seq: 1, ts: 0, epoch: 1, ...sent } as JournalRecord);
    applyRewound(history, { v: 1, seq: 2, ts: 0, epoch: 1, ...resultSent } as JournalRecord);
    expect(history.relations.hasAnswered(letter, 'c2')).toBe(true);
  });
});
