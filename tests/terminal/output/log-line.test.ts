import { expect, test } from 'vitest';
import { logLine } from '../../../src/terminal/output/log-line.js';

test('a line of a log has the time and its origin, and further lines are indented', () => {
  const source = { host: 'pond', worker: 'w_1' };
  const text = logLine('2026-11-18T12:00:00.000Z', source, 'one\ntwo');
  expect(text).toBe('2026-11-18T12:00:00.000Z host=pond worker=w_1 one\n  two\n');
});
