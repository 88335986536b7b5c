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

/** A lead with a changing mode; `put` replaces the write to the store. */
const lead = async (put: Put, outages?: SessionOptions['store']['outages']) => {
  const kept: string[] = [];
  const said: FeedItem[] = [];
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
      kept.push(text);
    },
  } as unknown as OwnedSession;
  await publishLeadConfig(options, session);
  const emit = (item: FeedItem) => void said.push(item);
  const { end } = republishOnChange(options, session, { emit, wantsStreamEvents: false });
  const change = (wanted: string) => {
    mode = wanted;
    changed();
  };
  return { kept, said, wakes, loss, change, end };
};

describe('what workers must know of a lead', () => {
  test('is kept at the beginning and after each change, before the session ends', async () => {
    const { kept, change, end } = await lead(() => new Promise(setImmediate));
    change('default');
    change('acceptEdits');
    change('plan');
    await end();
    expect([kept[0], kept.at(-1)]).toEqual(['bypassPermissions', 'plan']);
    change('default');
    await end();
    expect(kept.at(-1)).toBe('plan');
  });

  test('is tried again where the store refuses it, and that is said once', async () => {
    let refusals = 2;
    const { kept, said, wakes, change, end } = await lead(async (text) => {
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
    expect(kept).toEqual(['bypassPermissions', 'plan']);
    expect(said).toEqual([{ type: 'notice', text: expect.stringContaining('It is full.') }]);
  });

  test('is for the next lead to say when this one has lost the session', async () => {
    const { said, wakes, loss, change, end } = await lead(async (text) => {
      if (text !== 'plan') return;
      loss.abort();
      throw new StorageError('It is gone.');
    });
    change('plan');
    await end();
    expect([said, wakes]).toEqual([[], []]);
  });

  test('holds nobody up who leaves while the store is away', async () => {
    let trouble: string | undefined;
    const listeners = new Set<(trouble: string | undefined) => void>();
    const outages = {
      get trouble() {
        return trouble;
      },
      listen(listener: (trouble: string | undefined) => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const { change, end } = await lead(async (text) => {
      if (text === 'plan') await new Promise(() => {});
    }, outages);
    change('plan');
    const ended = end();
    trouble = 'It is away';
    for (const tell of listeners) tell(trouble);
    await ended;
    expect(listeners.size).toBe(0);
    await end();
  });
});
