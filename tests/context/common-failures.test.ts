import { describe, expect, test } from 'vitest';
import { CommonFailures } from '../../src/context/common-failures.js';

describe('a failure that agents share', () => {
  test('counts each agent once, however often it meets it', () => {
    const failures = new CommonFailures();
    const met = ['a', 'a', 'b', 'a', 'c'].map((agent) => failures.count(agent, 'call', 'no'));
    expect(met).toEqual([1, 1, 2, 2, 3]);
  });

  test('is another one when the call fails otherwise, and none when it does not fail', () => {
    const failures = new CommonFailures();
    for (const agent of ['a', 'b', 'c']) failures.count(agent, 'call', 'no');
    expect(failures.count('d', 'call', 'never')).toBe(1);
    for (const agent of ['a', 'b', 'c']) failures.count(agent, 'other', 'no');
    failures.forget('other');
    expect(failures.count('d', 'other', 'no')).toBe(1);
  });

  test('is forgotten when many others were met since, and its agents are counted to a bound', () => {
    const failures = new CommonFailures();
    failures.count('a', 'old', 'no');
    for (let at = 0; at < 256; at += 1) failures.count('a', `call ${at}`, 'no');
    expect(failures.count('b', 'old', 'no')).toBe(1);
    for (let at = 0; at < 1_000; at += 1) failures.count(`agent ${at}`, 'old', 'no');
    expect(failures.count('one more', 'old', 'no')).toBe(64);
  });
});
