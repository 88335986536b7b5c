import { describe, expect, test } from 'vitest';
import { earlierSessions, pickSession, sessionLines } from '../../../src/cli/repl/pick-session.js';
import { SESSION_FORMAT, type SessionMeta } from '../../../src/protocol/session/session-store.js';

const NOW = 1_000_000_000_000;
const session = (
  id: string,
  minutes: number,
  cwd = '/here',
  title = `About ${id}`,
): SessionMeta => ({
  format: SESSION_FORMAT,
  id,
  cwd,
  createdAt: 0,
  updatedAt: NOW - minutes * 60_000,
  lead: 'a',
  model: 'm',
  version: '0',
  entrypoint: 'cli',
  parentId: null,
  title,
});
const all = [session('s_old', 120), session('s_new', 3), session('s_far', 1, '/there')];
const listed = earlierSessions(all, '/here', undefined);

describe('earlier sessions', () => {
  test('are listed for the directory, newest first, without the open session', () => {
    expect(listed.map(({ id }) => id)).toEqual(['s_new', 's_old']);
    expect(earlierSessions(all, '/here', 's_new').map(({ id }) => id)).toEqual(['s_old']);
  });

  test('are shown with a number, their age, title and id', () => {
    expect(sessionLines(listed, NOW)).toEqual([
      '   1. 3 minutes ago  About s_new  s_new',
      '   2. 2 hours ago    About s_old  s_old',
    ]);
    const [line] = sessionLines([session('s', 0, '/here', 'a\u001b[2J\nb')], NOW);
    expect(line).toBe('   1. just now  a^[[2J b  s');
    expect(sessionLines([session('s', 0, '/here', '')], NOW)[0]).toContain('(no title)');
  });

  test('are limited to 15', () => {
    const many = Array.from({ length: 40 }, (_, index) => session(`s_${index}`, index));
    expect(earlierSessions(many, '/here', undefined)).toHaveLength(15);
  });

  test('are picked by number, id or the beginning of an id', () => {
    expect(pickSession('2', listed, all)).toBe('s_old');
    expect(pickSession('s_far', listed, all)).toBe('s_far');
    expect(pickSession('s_n', listed, all)).toBe('s_new');
  });

  test.each([
    ['0', 'There is no number 0; the list has 1 to 2.'],
    ['3', 'There is no number 3'],
    ['s_', 'matches 3 sessions'],
    ['nobody', 'There is no session "nobody"'],
  ])('are not picked by %j', (query, sentence) => {
    expect(() => pickSession(query, listed, all)).toThrow(sentence);
  });
});
