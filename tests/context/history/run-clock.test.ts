import { describe, expect, test } from 'vitest';
import { RunClock } from '../../../src/context/history/run-clock.js';
import type { JournalBody } from '../../../src/protocol/session/journal-record.js';

const MINUTE = 60_000;

/** Records by the minute at which they were written, with their epoch (default: 1). */
const clockOf = (...records: readonly [minute: number, body: JournalBody, epoch?: number][]) => {
  const clock = new RunClock();
  for (const [at, [minute, body, epoch = 1]] of records.entries()) {
    clock.apply({ v: 1, seq: at + 1, ts: minute * MINUTE, epoch, ...body });
  }
  return Object.assign((minute: number) => clock.workedMsAt(minute * MINUTE) / MINUTE, { clock });
};

const started: JournalBody = { type: 'run.started', run: 1 };
const sign: JournalBody = { type: 'user.sent', parts: [] };
const claimed: JournalBody = { type: 'epoch.began', owner: 'o_2' };
const letter: JournalBody = { type: 'letter.received', letter: 'l', from: 'user', raw: '[]' };
const restarted: JournalBody = {
  type: 'agent.restarted',
  reason: 'A bug.',
  attempt: 1,
  delayMs: 1_000,
};
const ended: JournalBody = {
  type: 'run.ended',
  reason: 'time_limit',
  detail: null,
  turns: 1,
  final: true,
};

describe('the run time of an agent', () => {
  test('starts with the run', () => {
    expect(clockOf([5, letter])(10)).toBe(0);
    expect(clockOf([5, letter], [10, started])(15)).toBe(5);
  });

  test('continues after its process died, without the time in between', () => {
    const worked = clockOf([0, started], [50, sign], [500, claimed, 2], [501, started, 2]);
    expect(worked(505)).toBe(54);
  });

  test('does not include a letter that another process wrote', () => {
    expect(clockOf([0, started], [50, sign], [500, letter, 2], [501, started, 2])(501)).toBe(50);
  });

  test('continues after a crash, without the restart delay', () => {
    expect(clockOf([0, started], [10, restarted], [20, letter], [30, started])(35)).toBe(15);
  });

  test('restarts after its run has ended', () => {
    expect(clockOf([0, started], [60, ended])(70)).toBe(0);
    expect(clockOf([0, started], [60, ended], [70, started])(75)).toBe(5);
  });
});

describe('an ended agent', () => {
  const queued: JournalBody = { type: 'agent.queued', reason: 'It waits.' };
  const isResumeDue = (...bodies: readonly JournalBody[]) =>
    clockOf(...bodies.map((body) => [0, body] as [number, JournalBody])).clock.isResumeDue;

  test('is due to resume after a letter or queue entry, until it starts', () => {
    for (const cause of [letter, queued]) {
      expect(isResumeDue(started, ended, cause)).toBe(true);
      expect(isResumeDue(started, ended, cause, started)).toBe(false);
      expect(isResumeDue(started, ended, cause, started, ended)).toBe(false);
    }
  });

  test('is not due to resume after earlier records or a job letter', () => {
    expect(isResumeDue(queued, letter, started, letter, ended)).toBe(false);
    expect(isResumeDue(started, ended, { ...letter, from: 'job' })).toBe(false);
  });

  test('is not due to resume after a worker queued it with a refusal', () => {
    expect(isResumeDue(started, ended, { ...queued, worker: 'w_1' })).toBe(false);
  });

  test('is not due to resume while it is only idle', () => {
    expect(isResumeDue(started, { ...ended, final: false }, letter)).toBe(false);
  });
});
