import { describe, expect, test } from 'vitest';
import { AnnouncedFacts } from '../../../src/context/history/announced-facts.js';

const opening = { briefing: 'It opens.', facts: { date: 'Monday' } };
const news = { reminder: 'branch', value: 'next', text: 'It is on next.' };

/** Was told the opening in the message at this place, and a reminder in a later one. */
const toldAt = (at: number): AnnouncedFacts => {
  const told = new AnnouncedFacts();
  told.record([opening], at);
  told.record([news], at + 2);
  return told;
};

describe('what an agent was told', () => {
  test('is what the opening and the reminders said last', () => {
    const told = toldAt(0);
    told.record([{ ...news, value: 'main' }], 4);
    expect([...told.facts]).toEqual([
      ['date', 'Monday'],
      ['branch', 'main'],
    ]);
  });

  test.each([
    ['in the first message stays, which is never dropped', 0, [2, 2], true],
    ['behind what is dropped stays', 5, [2], true],
    ['in what is dropped is gone', 5, [5], false],
    ['moves ahead with every drop', 5, [2, 3], false],
    ['stays where the drops end just before it', 5, [2, 2], true],
  ])('%s', (_, at, drops, isBriefed) => {
    const told = toldAt(at);
    for (const dropped of drops) told.dropMessages(dropped);
    expect(told.hasPreamble).toBe(isBriefed);
    expect([...told.facts]).toEqual(isBriefed ? [['date', 'Monday']] : []);
  });
});
