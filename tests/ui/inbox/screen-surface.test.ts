import { describe, expect, test } from 'vitest';
import { QuestionInbox } from '../../../src/ui/inbox/question-inbox.js';
import { ScreenSurface } from '../../../src/ui/inbox/screen-surface.js';
import { choice, permission } from './questions.js';

const setUp = () => {
  let bells = 0;
  const inbox = new QuestionInbox({ showFull: () => {} });
  const surface = new ScreenSurface({
    inbox,
    nameOf: (agent) => `Agent ${agent}`,
    purposeOf: () => 'the lead, look around',
    ring: () => {
      bells += 1;
    },
    now: () => 42,
  });
  return { inbox, surface, bells: () => bells };
};

const never = new AbortController().signal;

describe('the screen surface', () => {
  test('adds a question to the inbox with a bell and returns its answer', async () => {
    const { inbox, surface, bells } = setUp();
    const answer = surface.ask(permission(), never);
    expect(bells()).toBe(1);
    expect(inbox.shown).toMatchObject({
      asker: 'Agent a_1',
      purpose: 'the lead, look around',
      askedAt: 42,
    });
    const entry = inbox.shown;
    if (entry?.kind === 'permission') entry.answer({ behavior: 'allow', scope: 'once' });
    expect(await answer).toEqual({ behavior: 'allow', scope: 'once' });
    expect(inbox.entries).toEqual([]);
  });

  test('removes questions at once when they are answered elsewhere', async () => {
    const { inbox, surface } = setUp();
    const elsewhere = new AbortController();
    const answer = surface.ask(permission(), elsewhere.signal);
    const choosing = surface.choose(choice(), elsewhere.signal);
    expect(inbox.entries).toHaveLength(2);
    elsewhere.abort();
    expect(inbox.entries).toEqual([]);
    await expect(answer).rejects.toThrow('withdrawn');
    await expect(choosing).rejects.toThrow('withdrawn');
  });

  test('does not show a question that is already withdrawn', async () => {
    const { inbox, surface } = setUp();
    await expect(surface.ask(permission(), AbortSignal.abort())).rejects.toThrow('withdrawn');
    expect(inbox.entries).toEqual([]);
  });

  test('rejects open questions when it closes', async () => {
    const { surface } = setUp();
    const answer = surface.ask(permission(), never);
    surface.close();
    await expect(answer).rejects.toThrow('could answer has closed');
  });
});
