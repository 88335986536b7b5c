import { describe, expect, test } from 'vitest';
import { QuestionInbox } from '../../../src/ui/inbox/question-inbox.js';
import { ScreenSurface } from '../../../src/ui/inbox/screen-surface.js';
import { choice, permission } from './questions.js';

const setUp = () => {
  let rung = 0;
  const inbox = new QuestionInbox({ showFull: () => {} });
  const surface = new ScreenSurface({
    inbox,
    nameOf: (agent) => `Agent ${agent}`,
    purposeOf: () => 'the lead, look around',
    ring: () => {
      rung += 1;
    },
    now: () => 42,
  });
  return { inbox, surface, rung: () => rung };
};

const never = new AbortController().signal;

describe('questions on a screen', () => {
  test('are put into the inbox with a bell, and answered from there', async () => {
    const { inbox, surface, rung } = setUp();
    const answer = surface.ask(permission(), never);
    expect(rung()).toBe(1);
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

  test('disappear at once when they are answered elsewhere', async () => {
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

  test('are not asked when nobody needs the answer any more', async () => {
    const { inbox, surface } = setUp();
    await expect(surface.ask(permission(), AbortSignal.abort())).rejects.toThrow('withdrawn');
    expect(inbox.entries).toEqual([]);
  });

  test('have no answer when the screen is closed', async () => {
    const { surface } = setUp();
    const answer = surface.ask(permission(), never);
    surface.close();
    await expect(answer).rejects.toThrow('Nobody is there');
  });
});
