import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../src/protocol/clock.js';
import type { ListedJob } from '../../../src/protocol/session/job-queue.js';
import type { SessionStore } from '../../../src/protocol/session/session-store.js';
import { commandSwarm } from '../../../src/sdk/control/command-swarm.js';
import { steerAgent } from '../../../src/sdk/control/steer-agent.js';
import { MemoryMailbox } from '../../../src/store/memory/memory-mailbox.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { meta } from '../../store/contracts/records.js';

const COMMAND = { type: 'send', agent: 'a_1', text: 'hey' } as const;

/** A session whose owner does not reply. */
const setUp = async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const store = new MemorySessionStore(systemClock);
  const session = await store.create(meta());
  const { id } = session.meta;
  const timers = vi.getTimerCount();
  const sent = async () => {
    const inbox = await store.mailbox(id).open('commands');
    return (await inbox.next(new AbortController().signal))?.body;
  };
  return { store, id, timers, sent };
};

describe('a command to a swarm', () => {
  test('is sent, and the wait for the reply ends with the signal', async () => {
    const { store, id, sent, timers } = await setUp();
    const left = new AbortController();
    const reply = commandSwarm(store, id, COMMAND, left.signal);
    await vi.advanceTimersByTimeAsync(5_000);
    left.abort();
    expect(await reply).toMatchObject({ ok: false, sentence: expect.stringContaining('yet') });
    expect(vi.getTimerCount()).toBe(timers);
    expect(await sent()).toEqual(COMMAND);
  });

  test('is sent even if the signal has already aborted', async () => {
    const { store, id, sent, timers } = await setUp();
    const reply = await commandSwarm(store, id, COMMAND, AbortSignal.abort());
    expect(reply.ok).toBe(false);
    expect(vi.getTimerCount()).toBe(timers);
    expect(await sent()).toEqual(COMMAND);
  });

  test('times out after 30 seconds without a reply', async () => {
    const { store, id, timers } = await setUp();
    const reply = commandSwarm(store, id, COMMAND);
    await vi.advanceTimersByTimeAsync(30_000);
    expect((await reply).sentence).toContain('did not answer within 30 seconds');
    expect(vi.getTimerCount()).toBe(timers);
  });
});

describe('an agent on a worker whose lead is not running', () => {
  test('receives a stop letter, and the wait for its end ends with the signal', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const mailbox = new MemoryMailbox();
    const job: ListedJob = { id: 'a_1', swarm: 's_1', addedAt: 1, worker: 'w_1' };
    const store = {
      holder: async () => undefined,
      mailbox: () => mailbox,
      jobs: { list: async () => [job] },
      async *records() {},
    } as unknown as SessionStore;
    const inbox = await mailbox.open('a_1');
    const left = new AbortController();
    const reply = steerAgent(store, 's_1', 'a_1', { type: 'stop', agent: 'a_1' }, left.signal);
    const letter = await inbox.next(left.signal);
    expect(letter?.body).toMatchObject({ type: 'stop' });
    left.abort();
    await vi.advanceTimersByTimeAsync(500);
    expect((await reply).sentence).toContain('has not confirmed it yet');
    expect(vi.getTimerCount()).toBe(0);
  });
});
