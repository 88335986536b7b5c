import { describe, expect, test } from 'vitest';
import { RunClock } from '../../../src/context/history/run-clock.js';
import type { JournalBody } from '../../../src/protocol/session/journal-record.js';

const MINUTE = 60_000;

/** Records by the minute at which they were written, and the epoch if it is not the first. */
const lifeOf = (...records: readonly [minute: number, body: JournalBody, epoch?: number][]) => {
  const life = new RunClock();
  for (const [at, [minute, body, epoch = 1]] of records.entries()) {
    life.apply({ v: 1, seq: at + 1, ts: minute * MINUTE, epoch, ...body });
  }
  return Object.assign((minute: number) => life.workedMsAt(minute * MINUTE) / MINUTE, { life });
};

const started: JournalBody = { type: 'run.started', run: 1 };
const sign: JournalBody = { type: 'user.sent', parts: [] };
const taken: JournalBody = { type: 'epoch.began', owner: 'o_2' };
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

describe('the time that an agent has worked', () => {
  test('runs from the moment it begins', () => {
    expect(lifeOf([5, letter])(10)).toBe(0);
    expect(lifeOf([5, letter], [10, started])(15)).toBe(5);
  });

  test('goes on after the death of its process, without the time in which nobody ran it', () => {
    const worked = lifeOf([0, started], [50, sign], [500, taken, 2], [501, started, 2]);
    expect(worked(505)).toBe(54);
  });

  test('does not go on with a letter that another process wrote for it', () => {
    expect(lifeOf([0, started], [50, sign], [500, letter, 2], [501, started, 2])(501)).toBe(50);
  });

  test('goes on after a crash, without the pause', () => {
    expect(lifeOf([0, started], [10, restarted], [20, letter], [30, started])(35)).toBe(15);
  });

  test('begins anew when its run had ended', () => {
    expect(lifeOf([0, started], [60, ended])(70)).toBe(0);
    expect(lifeOf([0, started], [60, ended], [70, started])(75)).toBe(5);
  });
});

describe('an agent that has ended', () => {
  const queued: JournalBody = { type: 'agent.queued', reason: 'It waits.' };
  const isCalledBack = (...bodies: readonly JournalBody[]) =>
    lifeOf(...bodies.map((body) => [0, body] as [number, JournalBody])).life.isResumeDue;

  test('is called back by a letter or a place in the queue, until it begins', () => {
    for (const call of [letter, queued]) {
      expect(isCalledBack(started, ended, call)).toBe(true);
      expect(isCalledBack(started, ended, call, started)).toBe(false);
      expect(isCalledBack(started, ended, call, started, ended)).toBe(false);
    }
  });

  test('is not by what came before its end, nor by what wakes nobody', () => {
    expect(isCalledBack(queued, letter, started, letter, ended)).toBe(false);
    expect(isCalledBack(started, ended, { ...letter, from: 'job' })).toBe(false);
  });

  test('is not by a worker that says why it cannot work on it', () => {
    expect(isCalledBack(started, ended, { ...queued, worker: 'w_1' })).toBe(false);
  });

  test('is none while it only rests', () => {
    expect(isCalledBack(started, { ...ended, final: false }, letter)).toBe(false);
  });
});
