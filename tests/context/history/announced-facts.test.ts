import { describe, expect, test } from 'vitest';
import { AnnouncedFacts } from '../../../src/context/history/announced-facts.js';

const opening = { briefing: 'It opens.', facts: { date: 'Monday' } };
const news = { reminder: 'branch', value: 'next', text: 'It is on next.' };

/** Announces the preamble in the message at this index, and a reminder two messages later. */
const announcedAt = (at: number): AnnouncedFacts => {
  const announced = new AnnouncedFacts();
  announced.record([opening], at);
  announced.record([news], at + 2);
  return announced;
};

describe('the announced facts of an agent', () => {
  test('have the last value of the preamble or a reminder', () => {
    const announced = announcedAt(0);
    announced.record([{ ...news, value: 'main' }], 4);
    expect([...announced.facts]).toEqual([
      ['date', 'Monday'],
      ['branch', 'main'],
    ]);
  });

  test.each([
    ['stay if announced in the first message, which is never dropped', 0, [2, 2], true],
    ['stay if announced after the dropped messages', 5, [2], true],
    ['are removed if announced in the dropped messages', 5, [5], false],
    ['move forward with every drop', 5, [2, 3], false],
    ['stay if the drops end just before the announcement', 5, [2, 2], true],
  ])('%s', (_, at, drops, isBriefed) => {
    const announced = announcedAt(at);
    for (const dropped of drops) announced.dropMessages(dropped);
    expect(announced.hasPreamble).toBe(isBriefed);
    expect([...announced.facts]).toEqual(isBriefed ? [['date', 'Monday']] : []);
  });
});
