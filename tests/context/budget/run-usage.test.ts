import { describe, expect, test } from 'vitest';
import { RunUsage } from '../../../src/context/budget/run-usage.js';
import type { CurrentRun } from '../../../src/context/history/current-run.js';
import { History } from '../../../src/context/history/history.js';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';

const prompt: JournalBody = { type: 'letter.received', letter: 'l', from: 'user', raw: '[]' };
const report: JournalBody = { ...prompt, from: 'agent' };
const epoch: JournalBody = { type: 'epoch.began', owner: 'o' };
const started = (run: number): JournalBody => ({ type: 'run.started', run });
const ended: JournalBody = {
  type: 'run.ended',
  reason: 'end_turn',
  detail: null,
  turns: 1,
  final: false,
};

const runAfter = (...bodies: readonly JournalBody[]): CurrentRun => {
  const history = new History();
  bodies.forEach((body, at) => {
    history.apply({ v: 1, seq: at + 1, ts: 0, epoch: 1, ...body } as JournalRecord);
  });
  return history.currentRun;
};

describe('the run that limits are counted for', () => {
  test.each<[string, number, readonly JournalBody[]]>([
    ['is the first run', 1, [epoch, prompt, started(1)]],
    [
      'is the next run that a user starts',
      2,
      [epoch, prompt, started(1), ended, prompt, started(2)],
    ],
    ['continues when an agent reports', 1, [epoch, prompt, started(1), ended, report, started(2)]],
    [
      'continues after a crash',
      1,
      [epoch, prompt, started(1), epoch, started(2), epoch, started(3)],
    ],
    [
      'continues after a crash with an earlier user message',
      1,
      [epoch, prompt, started(1), prompt, epoch, started(2)],
    ],
    [
      'is a new run if the user writes after the crash',
      2,
      [epoch, prompt, started(1), epoch, prompt, started(2)],
    ],
    [
      'is a new run if the last run had ended before the crash',
      2,
      [epoch, prompt, started(1), ended, epoch, report, started(2)],
    ],
  ])('%s', (_, first, bodies) => {
    const run = runAfter(...bodies);
    expect([run.first, run.isUnfinished]).toEqual([first, true]);
  });

  test('is finished after its end', () => {
    expect(runAfter(epoch, prompt, started(1), ended).isUnfinished).toBe(false);
    expect(runAfter(epoch, prompt).isUnfinished).toBe(false);
  });
});

/** `a` is the lead, `b` its child, and `c` the child of `b`. */
const PARENTS: Record<string, string | null> = { a: null, b: 'a', c: 'b' };

const usageOf = (...events: readonly (readonly [string, string, Record<string, unknown>?])[]) => {
  const usage = new RunUsage('a', { first: 2, isUnfinished: true });
  events.forEach(([agent, type, more], at) => {
    const seq = at + 1;
    const place = { v: 1, seq, ts: 0, swarm: 's', agent, parent: PARENTS[agent] ?? null };
    usage.take({ ...place, type, cites: { seq }, ...more } as SwarmEvent);
  });
  return usage;
};
const turn = { model: 'm', usage: { ...NO_USAGE, output: 1 }, cost: 1 };

describe('the usage of a run', () => {
  test('is the usage of the whole tree since the start of the run', () => {
    const { used } = usageOf(
      ['a', 'run.started', { run: 1 }],
      ['a', 'turn.ended', turn],
      ['a', 'agent.requested', { child: 'b' }],
      ['a', 'run.started', { run: 2 }],
      ['a', 'turn.ended', turn],
      ['a', 'agent.requested', { child: 'c' }],
      ['b', 'turn.ended', turn],
      ['c', 'turn.failed', turn],
      ['a', 'run.started', { run: 3 }],
    );
    expect(used).toEqual({ usd: 3, tokens: 3, turns: 2, agents: 1 });
  });

  test('is zero if the run has ended', () => {
    const usage = new RunUsage('a', { first: 1, isUnfinished: false });
    expect(usage.used).toEqual({ usd: 0, tokens: 0, turns: 0, agents: 0 });
  });

  test('of an agent includes its descendants since its last run started', () => {
    const usage = usageOf(
      ['b', 'turn.ended', turn],
      ['c', 'turn.ended', turn],
      ['c', 'agent.stopped'],
      ['c', 'run.started', { run: 2 }],
      ['c', 'turn.ended', turn],
    );
    expect(usage.usedBy('b')).toEqual({ usd: 3, tokens: 3, turns: 3 });
    expect(usage.usedBy('c')).toEqual({ usd: 1, tokens: 1, turns: 1 });
  });
});
