import { expect, test } from 'vitest';
import { localDate } from '../../../src/lib/text/local-date.js';

test('localDate pads months and days', () => {
  expect(localDate(new Date(2026, 0, 5, 12).getTime())).toBe('2026-01-05');
  expect(localDate(new Date(2026, 10, 30, 23, 59).getTime())).toBe('2026-11-30');
});
