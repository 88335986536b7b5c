import { expect, test } from 'vitest';
import { afterFailedStart } from '../../../src/sdk/worker/after-failed-start.js';

test('an agent that the store refuses is started ten times and then put aside with the reason', () => {
  const ends = Array.from({ length: 10 }, (_, failures) => afterFailedStart({ failures }, 'No.'));
  expect(ends.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => undefined));
  expect(ends[9]).toEqual({ never: 'The agent could not be started 10 times. No.' });
});
