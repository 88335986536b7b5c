import { describe, expect, test } from 'vitest';
import { AgentRelations } from '../../../src/context/history/agent-relations.js';
import { applyRewound } from '../../../src/context/history/conversation-records.js';
import { History } from '../../../src/context/history/history.js';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import type { Settlement } from '../../../src/protocol/tools/worktrees.js';

const folded = (...bodies: readonly JournalBody[]): AgentRelations => {
  const family = new AgentRelations();
  bodies.forEach((body, at) => {
    family.apply({ v: 1, seq: at + 1, ts: 0, epoch: 1, ...body } as JournalRecord);
  });
  return family;
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

describe('what an agent leaves in its worktree', () => {
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

  test('counts as changed where it was merged to, and that is where it goes on from', () => {
    const family = folded(created, settled(merged));
    expect([...family.changedFiles]).toEqual(['/repo/src/a.ts']);
    expect(family).toMatchObject({ mergedAt: 'c1', settled: { outcome: merged } });
  });

  test('is open again when it goes on, and a conflict changes nothing', () => {
    expect(folded(created, settled(merged), { type: 'run.started', run: 2 })).toMatchObject({
      mergedAt: 'c1',
      settled: null,
    });
    const conflict: Settlement = { kind: 'conflict', files: ['a'], commit: 'c2', conflicts: [] };
    expect([...folded(created, settled(conflict)).changedFiles]).toEqual([]);
  });

  test('are files that it wrote with file tools, not those that it only read', () => {
    const family = folded(created, ended('Read', '/s/w/a'), ended('Write', '/s/w/b'));
    expect([...family.writtenFiles]).toEqual(['/s/w/b']);
  });
});

describe('an answer that an agent gave', () => {
  const letter = 'answer_plan_a_2';
  const sent: JournalBody = {
    type: 'letter.sent',
    letter,
    to: 'a_2',
    call: 'c1',
    kind: 'plan_approval_response',
  };
  const lost: JournalBody = { type: 'letter.undelivered', letter, to: 'a_2', reason: 'lost' };
  const told: JournalBody = { type: 'user.sent', parts: [{ call: 'c1' }] };

  test.each<[string, readonly JournalBody[], string, boolean]>([
    ['keeps any other call from giving another', [sent], 'c2', true],
    ['is that of its call, which may be taken up again', [sent], 'c1', false],
    ['is not that of a later call with the same id', [sent, told], 'c1', true],
    ['was none where it did not arrive', [sent, lost, told], 'c2', false],
  ])('%s', (_, bodies, call, isGiven) => {
    expect(folded(...bodies).hasAnswered(letter, call)).toBe(isGiven);
  });

  test('counts also when the conversation was taken back since', () => {
    const history = new History();
    applyRewound(history, { v: 1, seq: 1, ts: 0, epoch: 1, ...sent } as JournalRecord);
    applyRewound(history, { v: 1, seq: 2, ts: 0, epoch: 1, ...told } as JournalRecord);
    expect(history.relations.hasAnswered(letter, 'c2')).toBe(true);
  });
});
