import { describe, expect, test } from 'vitest';
import type { SessionOptions } from '../../../src/actors/session/lead-session.js';
import {
  publishLeadConfig,
  republishOnChange,
} from '../../../src/actors/session/publish-lead-config.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import type { OwnedSession } from '../../../src/protocol/session/owned-session.js';
import { StorageError } from '../../../src/protocol/skein-error.js';

type Put = (text: string) => Promise<void>;

/** Lead with a changing mode. `put` runs before each write to the store. */
const lead = async (put: Put, outages?: SessionOptions['store']['outages']) => {
  const stored: string[] = [];
  const emitted: FeedItem[] = [];
  const wakes: (() => void)[] = [];
  const loss = new AbortController();
  let mode = 'bypassPermissions';
  let changed = () => {};
  const options = {
    leadConfig: {
      write: () => ({ name: 'terms', bytes: Buffer.from(mode) }),
      listen(listener: () => void) {
        changed = listener;
        return () => {
          changed = () => {};
        };
      },
    },
    store: { outages },
    clock: { now: () => 0, wakeAt: (_: number, wake: () => void) => wakes.push(wake) },
  } as unknown as SessionOptions;
  const session = {
    lost: loss.signal,
    async putArtifact(_: string, bytes: Uint8Array) {
      const text = Buffer.from(bytes).toString();
      await put(text);
      stored.push(text);
    },
  } as unknown as OwnedSession;
  await publishLeadConfig(options, session);
  const emit = (item: FeedItem) => void emitted.push(item);
  const { end } = republishOnChange(options, session, { emit, wantsStreamEvents: false });
  const change = (next: string) => {
    mode = next;
    changed();
  };
  return { stored, emitted, wakes, loss, change, end };
};

describe('the published lead config', () => {
  test('is stored at the start and after each change until the session ends', async () => {
    const { stored, change, end } = await lead(() => new Promise(setImmediate));
    change('default');
    change('acceptEdits');
    change('plan');
    await end();
    expect([stored[0], stored.at(-1)]).toEqual(['bypassPermissions', 'plan']);
    change('default');
    await end();
    expect(stored.at(-1)).toBe('plan');
  });

  test('is stored again after refusals of the store, with a single notice', async () => {
    let refusals = 2;
    const { stored, emitted, wakes, change, end } = await lead(async (text) => {
      if (text !== 'plan') return;
      refusals -= 1;
      if (refusals >= 0) throw new StorageError('It is full.');
    });
    change('plan');
    for (const many of [1, 2]) {
      await expect.poll(() => wakes.length).toBe(many);
      wakes.at(-1)?.();
    }
    await end();
    expect(stored).toEqual(['bypassPermissions', 'plan']);
    expect(emitted).toEqual([{ type: 'notice', text: expect.stringContaining('It is full.') }]);
  });

  test('is not retried after the session is lost', async () => {
    const { emitted, wakes, loss, change, end } = await lead(async (text) => {
      if (text !== 'plan') return;
      loss.abort();
      throw new StorageError('It is gone.');
    });
    change('plan');
    await end();
    expect([emitted, wakes]).toEqual([[], []]);
  });

  test('does not delay the end of the session while the store is unreachable', async () => {
    let outage: string | undefined;
    const listeners = new Set<(outage: string | undefined) => void>();
    const outages = {
      get outage() {
        return outage;
      },
      listen(listener: (outage: string | undefined) => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const { change, end } = await lead(async (text) => {
      if (text === 'plan') await new Promise(() => {});
    }, outages);
    change('plan');
    const ended = end();
    outage = 'It is away';
    for (const notify of listeners) notify(outage);
    await ended;
    expect(listeners.size).toBe(0);
    await end();
  });
});
