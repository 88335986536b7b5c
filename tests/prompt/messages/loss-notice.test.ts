import { describe, expect, test } from 'vitest';
import { lossDetail, lossNotice } from '../../../src/prompt/messages/loss-notice.js';

const calls = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ description: `Bash step-${at}` }));

describe('the text about lost records', () => {
  test.each([
    [0, 'Redis has lost records of this'],
    [1, 'Redis has lost 1 record of this'],
    [7, 'Redis has lost 7 records of this'],
  ])('names the number of lost records: %i', (lost, sentence) => {
    expect(lossNotice(lost, [])).toContain(sentence);
    expect(lossDetail(lost, [])).toContain(sentence);
  });

  test('names the calls that may have run, 20 at most', () => {
    expect(lossDetail(1, [])).toContain('Calls that are not in the transcript may have run.');
    expect(lossDetail(1, calls(2))).toContain('may have run: Bash step-0; Bash step-1.');
    expect(lossNotice(1, calls(23))).toMatch(/Bash step-19; and 3 more\./);
  });

  test('for the agent is a reminder of Skein', () => {
    expect(lossNotice(2, calls(1))).toMatch(/^<system-reminder>\n[\s\S]*\n<\/system-reminder>$/);
  });
});
