import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/protocol/clock.js';
import { SESSION_FORMAT } from '../../../../src/protocol/session/session-store.js';
import { UsageError } from '../../../../src/protocol/skein-error.js';
import { chooseSession } from '../../../../src/sdk/assembly/options/choose-session.js';
import type { RunOptions } from '../../../../src/sdk/assembly/options/run-options.js';
import { MemorySessionStore } from '../../../../src/store/memory/memory-session-store.js';

/** Three sessions: two of /here, of which `s_beta` was used last, and one of /there. */
const choose = async (flags: Partial<RunOptions>) => {
  const store = new MemorySessionStore(systemClock);
  const sessions = [
    { id: 's_alpha', cwd: '/here', updatedAt: 10 },
    { id: 's_beta', cwd: '/here', updatedAt: 30 },
    { id: 's_gamma', cwd: '/there', updatedAt: 50 },
  ];
  for (const session of sessions) {
    await store.create({
      format: SESSION_FORMAT,
      createdAt: 0,
      lead: 'a_1',
      model: 'm',
      version: '0',
      title: '',
      entrypoint: 'cli',
      parentId: null,
      ...session,
    });
  }
  const usual = { outputFormat: 'text', inputFormat: 'text', sessionPersistence: true } as const;
  return chooseSession({ ...usual, ...flags }, store, '/here');
};

describe('without flags', () => {
  test('the session is new', async () => {
    expect(await choose({})).toEqual({ kind: 'new' });
    expect(await choose({ sessionId: 'mine' })).toEqual({ kind: 'new', id: 'mine' });
  });
});

describe('--resume', () => {
  test.each(['s_alpha', 's_a', 's_al'])('selects the session that matches %s', async (resume) => {
    expect(await choose({ resume })).toEqual({ kind: 'resume', id: 's_alpha' });
  });

  test('that matches several sessions lists some of them', async () => {
    await expect(choose({ resume: 's_' })).rejects.toThrow(/matches 3 sessions: s_alpha, s_beta/);
  });

  test('that matches no readable session is resolved when the session is opened', async () => {
    expect(await choose({ resume: 's_omega' })).toEqual({ kind: 'resume', id: 's_omega' });
  });

  test('without an id is an error, not the newest session', async () => {
    await expect(choose({ resume: '' })).rejects.toThrow(UsageError);
  });
});

describe('--continue', () => {
  test('selects the session of this directory that was used last', async () => {
    expect(await choose({ continue: true })).toEqual({ kind: 'resume', id: 's_beta' });
  });
});

describe('--fork-session', () => {
  test('copies the session that would have been resumed', async () => {
    const fork = { kind: 'fork', from: 's_beta' };
    expect(await choose({ continue: true, forkSession: true })).toEqual(fork);
    expect(await choose({ resume: 's_b', forkSession: true, sessionId: 'mine' })).toEqual({
      ...fork,
      id: 'mine',
    });
  });

  test('needs a session to fork', async () => {
    await expect(choose({ forkSession: true })).rejects.toThrow(/needs --resume/);
  });
});

describe('--session-id', () => {
  test('cannot rename a session that is resumed', async () => {
    await expect(choose({ resume: 's_a', sessionId: 'mine' })).rejects.toThrow(/--fork-session/);
  });
});
