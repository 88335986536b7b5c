import { describe, expect, test } from 'vitest';
import { CommonFailures } from '../../src/context/common-failures.js';

describe('a failure of several agents', () => {
  test('counts each agent once', () => {
    const failures = new CommonFailures();
    const counts = ['a', 'a', 'b', 'a', 'c'].map((agent) => failures.count(agent, 'call', 'no'));
    expect(counts).toEqual([1, 1, 2, 2, 3]);
  });

  test('is counted per call and error, and restarts when the call succeeds', () => {
    const failures = new CommonFailures();
    for (const agent of ['a', 'b', 'c']) failures.count(agent, 'call', 'no');
    expect(failures.count('d', 'call', 'never')).toBe(1);
    for (const agent of ['a', 'b', 'c']) failures.count(agent, 'other', 'no');
    failures.forget('other');
    expect(failures.count('d', 'other', 'no')).toBe(1);
  });

  test('is forgotten after 256 other failures, and counts at most 64 agents', () => {
    const failures = new CommonFailures();
    failures.count('a', 'old', 'no');
    for (let at = 0; at < 256; at += 1) failures.count('a', `call ${at}`, 'no');
    expect(failures.count('b', 'old', 'no')).toBe(1);
    for (let at = 0; at < 1_000; at += 1) failures.count(`agent ${at}`, 'old', 'no');
    expect(failures.count('one more', 'old', 'no')).toBe(64);
  });
});
