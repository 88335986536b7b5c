import { describe, expect, test } from 'vitest';
import { type Fact, factsOf, reportOf } from '../swarm-facts.js';

const { begun, started, ended, asked, ruled, tool, taken, over } = factsOf();
const historyOf = (facts: readonly Fact[], options: Parameters<typeof reportOf>[1] = {}) =>
  reportOf([...begun(0), ...facts], options).permissions;
const outcomes = (facts: readonly Fact[], options: Parameters<typeof reportOf>[1] = {}) =>
  historyOf(facts, options).entries.map(({ outcome }) => outcome);

describe('a question', () => {
  test('waits for its ruling, and shows the cause of the ruling', () => {
    const cause = {
      step: 'allow',
      rule: 'Bash(ls)',
      file: '/w/s.json',
      line: 3,
      source: 'project',
    };
    const facts = [asked(100, 'c'), ruled(700, 'c', 'allow', { ...cause, reason: 'A rule.' })];
    expect(historyOf(facts).entries).toMatchObject([
      { ...cause, outcome: 'allowed', waitedMs: 600, by: null, question: 'q_c', ruling: 'A rule.' },
    ]);
  });

  test('is withdrawn when its call, run or process ends first, or when it is asked again', () => {
    expect(outcomes([asked(1, 'c'), tool('tool.ended', 2, 'c')])).toEqual(['withdrawn']);
    expect(outcomes([asked(1, 'c'), over(2)])).toEqual(['withdrawn']);
    expect(outcomes([asked(1, 'c'), taken(2)])).toEqual(['withdrawn']);
    const again = [asked(1, 'c'), taken(2), asked(3, 'c'), ruled(4, 'c', 'deny')];
    expect(outcomes(again)).toEqual(['withdrawn', 'denied']);
  });

  test('is open only while a process runs the agent that asks', () => {
    expect(outcomes([asked(1, 'c')], { isHeld: true, now: 9 })).toEqual(['open']);
    expect(outcomes([asked(1, 'c')])).toEqual(['withdrawn']);
  });

  test('reports the waiting time until the withdrawal, or until now while it is open', () => {
    const waits = (facts: readonly Fact[], options: Parameters<typeof reportOf>[1] = {}) =>
      historyOf(facts, options).entries.map(({ waitedMs }) => waitedMs);
    expect(waits([asked(100, 'c'), tool('tool.ended', 700, 'c')])).toEqual([600]);
    expect(waits([asked(100, 'c'), over(900)])).toEqual([800]);
    expect(waits([asked(100, 'c')], { isHeld: true, now: 9_100 })).toEqual([9_000]);
    // No process has the session, so the question ends with the last event of the swarm.
    const alone = [asked(100, 'c'), { ...asked(600, 'd', 'a_2'), parent: 'a_1' }];
    expect(waits(alone, { now: 9_100 })).toEqual([500, 0]);
  });

  test('counts no waiting time while no process runs the agent that asks', () => {
    const child = [started(20, 'a_2'), ended(30, 'tool_use', 'a_2'), asked(150, 'd', 'a_2')];
    const facts = [...child, asked(100, 'c'), taken(90_000), asked(90_100, 'c')];
    const { entries, waitedMs } = historyOf(facts, { isHeld: true, now: 90_500 });
    expect(entries).toMatchObject([
      { call: 'd', outcome: 'withdrawn', waitedMs: 0 },
      { call: 'c', outcome: 'withdrawn', waitedMs: 50 },
      { call: 'c', outcome: 'open', waitedMs: 400 },
    ]);
    expect(waitedMs).toBe(450);
  });

  test('counts in the total waiting time even if it is too old to be listed', () => {
    const many = Array.from({ length: 3_000 }, (_, at) => [
      asked(at * 10, `c${at}`),
      ...(at === 0 ? [] : [ruled(at * 10 + 5, `c${at}`, at % 2 === 0 ? 'allow' : 'deny')]),
    ]).flat();
    const { entries, questions, waitedMs } = historyOf(many, { isHeld: true, now: 40_000 });
    expect([entries.length, questions]).toEqual([1_000, 3_000]);
    expect(waitedMs).toBe(2_999 * 5 + 40_000);
  });

  test('has the scope of its permission', () => {
    const answered = (detail: string, outcome = 'accepted'): Fact => ({
      type: 'permission.answered',
      ts: 2,
      call: 'c',
      surface: 'inbox',
      outcome,
      detail,
    });
    const scopeOf = (...facts: readonly Fact[]) =>
      historyOf([asked(1, 'c'), ...facts, ruled(3, 'c', 'allow')]).entries[0]?.scope;
    expect(scopeOf(answered('project'))).toBe('project');
    expect(scopeOf(answered('session', 'refused'))).toBeNull();
    expect(scopeOf(answered('for ever'))).toBeNull();
  });
});

describe('rulings', () => {
  test('without a question are listed if they deny, and counted by their cause', () => {
    const free = [1, 2, 3].map((at) => ruled(at, `c${at}`, 'allow', { step: 'mode' }));
    const { entries, rulings, denials } = historyOf([
      ...free,
      ruled(4, 'c4', 'deny', { step: 'deny', rule: 'Bash' }),
    ]);
    expect(entries).toMatchObject([{ call: 'c4', question: null, outcome: 'denied' }]);
    expect(denials).toBe(1);
    expect(rulings).toMatchObject([
      { behavior: 'allow', step: 'mode', count: 3 },
      { behavior: 'deny', rule: 'Bash', count: 1 },
    ]);
  });

  test('are limited in number, and the omitted rulings are counted', () => {
    const many = Array.from({ length: 2_600 }, (_, at) =>
      ruled(at, `c${at}`, 'deny', { rule: `Bash(${at})` }),
    );
    const { entries, entriesLeftOut, rulings, rulingsLeftOut } = historyOf(many);
    expect([entries.length, entriesLeftOut]).toEqual([1_000, 1_600]);
    expect(entries.at(-1)?.call).toBe('c2599');
    expect([rulings.length, rulingsLeftOut]).toEqual([50, 2_550]);
  });
});
