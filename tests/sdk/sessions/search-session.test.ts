import { describe, expect, test } from 'vitest';
import type { JournalBody } from '../../../src/protocol/session/journal-record.js';
import { searchPattern, searchSession } from '../../../src/sdk/sessions/search-session.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { created, letter, meta } from '../../store/session-folder.js';

/** Searches a session with one prompt and one answer. */
const find = async (words: string, asked: string, answered = '') => {
  const store = new MemorySessionStore(virtualClock());
  const journal = await (await store.create(meta({ title: 'Mend it' }))).journal('a_1', null);
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };
  const answer: JournalBody = {
    type: 'assistant.received',
    turn: 1,
    attempt: 1,
    model: 'm',
    messageId: null,
    requestId: null,
    stopReason: 'end_turn',
    usage,
    cost: 0,
    durationMs: 1,
    raw: JSON.stringify([
      { type: 'thinking', thinking: 'secretly' },
      { type: 'text', text: answered },
    ]),
  };
  for (const body of [created, letter('l_1', asked), answer]) journal.append(body);
  return searchSession(store, meta({ title: 'Mend it' }), searchPattern(words));
};

describe('a search', () => {
  test.each([
    ['MEND', { where: 'title', excerpt: 'Mend it' }],
    ['flaky', { where: 'person', excerpt: 'a Flaky\n test' }],
    ['flaky test', { where: 'person', excerpt: 'a Flaky\n test' }],
    ['(a+)+$', { where: 'model', excerpt: 'it was (a+)+$ all along' }],
  ])('for %s returns an excerpt', async (words, hit) => {
    expect(await find(words, 'a Flaky\n test', 'it was (a+)+$ all along')).toEqual(hit);
  });

  test.each(['nowhere', 'secretly', 'flakytest', '.*', '"type"'])(
    'for %s returns no match',
    async (words) => {
      expect(await find(words, 'a Flaky\n test', 'an answer')).toBeUndefined();
    },
  );

  test('shows an excerpt, not the whole text', async () => {
    const hit = await find('needle', `${'x'.repeat(1_000_000)} needle ${'y'.repeat(1_000_000)}`);
    expect(hit?.excerpt).toMatch(/^…x+ needle y+…$/);
    expect(hit?.excerpt.length).toBeLessThan(250);
  });
});
