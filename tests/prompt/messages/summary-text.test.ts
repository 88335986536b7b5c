import { describe, expect, test } from 'vitest';
import { summaryDirective, summaryText } from '../../../src/prompt/messages/summary-text.js';

describe('the request for a summary', () => {
  test.each([
    ['the goal', /Goal/],
    ['changed files', /Done:.*changed, file by file/],
    ['exact facts', /Facts/],
    ['failed and refused attempts', /Tried and dropped/],
    ['permission decisions', /Permissions/],
    ['open work', /Open/],
    ['an earlier summary', /earlier summary, merge it/],
    ['the ban on tool calls', /Do not call a tool/],
  ])('names %s (L17)', (_, words) => {
    expect(summaryDirective('')).toMatch(words);
  });

  test('ends with the instructions of the user', () => {
    expect(summaryDirective(' keep the SQL ')).toMatch(/for this summary: keep the SQL$/);
    expect(summaryDirective('  ')).toBe(summaryDirective(''));
  });
});

describe('the text in place of old messages', () => {
  test('contains the first prompt unchanged and the summary', () => {
    const text = summaryText('Mend the nest.\nBe quick.', 'Twigs were found.');
    expect(text).toContain('word for word:\n\nMend the nest.\nBe quick.\n');
    expect(text).toContain('\n\nTwigs were found.\n');
  });

  test('omits an empty first prompt', () => {
    expect(summaryText('', 'S')).not.toContain('word for word');
  });

  test('is bounded, with a note where it was cut', () => {
    const text = summaryText('', 'x'.repeat(200_000));
    expect(text.length).toBeLessThan(61_000);
    expect(text).toContain('[The summary was longer and is cut here.]');
  });
});
