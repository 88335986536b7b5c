import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/protocol/clock.js';
import { MemorySessionStore } from '../../../src/store/memory/memory-session-store.js';
import { StoreSource } from '../../../src/ui/swarm/store-source.js';
import { created, meta } from '../../store/contracts/records.js';

const REMOVED = 'The session has been removed.';

/** Delays the work by 50 ms, like a network. */
const slowly =
  <Result>(work: () => Promise<Result>) =>
  async () => {
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    return work();
  };

describe('the source of a watched session', () => {
  test('reports the removal of the session, keeps the last view and refuses commands', async () => {
    const store = new MemorySessionStore(systemClock);
    const session = await store.create(meta());
    (await session.journal('a_1', null)).append(created);
    const source = new StoreSource(store, session.meta);
    onTestFinished(() => source.stop());
    await source.ready;
    expect(source.problem()).toBeNull();
    await session.close();
    await store.remove(session.meta.id);
    await expect.poll(() => source.problem(), { timeout: 5_000 }).toBe(REMOVED);
    expect(source.swarms().map(({ agents }) => agents.length)).toEqual([1]);
    const { steering } = source;
    const { signal } = new AbortController();
    const replies = [
      steering.send(session.meta.id, 'a_1', 'hey', signal),
      steering.stop(session.meta.id, 'a_1', signal),
      steering.resume(session.meta.id, 'a_1', signal),
    ];
    expect(await Promise.all(replies)).toEqual([REMOVED, REMOVED, REMOVED]);
  });

  test('sends a command before it settles, even if the caller left at once', async () => {
    const store = new MemorySessionStore(systemClock);
    const session = await store.create(meta());
    onTestFinished(() => session.close());
    const { id } = session.meta;
    const slow = Object.create(store, { holder: { value: slowly(() => store.holder(id)) } });
    const source = new StoreSource(slow, session.meta);
    source.stop();
    void source.steering.send(id, 'a_1', 'hey', AbortSignal.abort());
    await source.settled();
    const inbox = await store.mailbox(id).open('commands');
    const letter = await inbox.next(AbortSignal.timeout(100));
    expect(letter?.body).toEqual({ type: 'send', agent: 'a_1', text: 'hey' });
  });

  test('ends with a defect of steering', async () => {
    const store = new MemorySessionStore(systemClock);
    const session = await store.create(meta());
    const source = new StoreSource(store, session.meta);
    onTestFinished(() => source.stop());
    const defect = new TypeError('a defect');
    source.steering.onDefect(defect);
    await expect(source.done).rejects.toBe(defect);
  });
});
