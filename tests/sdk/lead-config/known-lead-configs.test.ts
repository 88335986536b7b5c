import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  KnownLeadConfigs,
  StaleConfigError,
} from '../../../src/sdk/lead-config/known-lead-configs.js';
import { type LeadConfig, signLeadConfig } from '../../../src/sdk/lead-config/lead-config.js';

const person = generateKeyPairSync('ed25519');
const publicKey = person.publicKey.export({ format: 'der', type: 'spki' }).toString('base64url');

const CONFIG: LeadConfig = {
  v: 2,
  session: 's_1',
  createdAt: 100,
  epoch: 3,
  edition: 2,
  mode: 'default',
  host: 'here',
  cwd: '/repo',
  flags: {},
};

/** A config in a store, and its followers. */
const worker = () => {
  let bytes = signLeadConfig(CONFIG, person.privateKey);
  const known = new KnownLeadConfigs(
    async () => bytes,
    () => [publicKey],
  );
  let onHint = () => {};
  const received: string[] = [];
  const follow = () =>
    known.follow(
      's_1',
      (listener) => {
        onHint = listener;
        return () => received.push('ended');
      },
      ({ mode }) => received.push(mode),
    );
  return {
    known,
    received,
    follow,
    hint: () => onHint(),
    put(change: Partial<LeadConfig>, key = person.privateKey) {
      bytes = signLeadConfig({ ...CONFIG, ...change }, key);
    },
  };
};

describe('the lead config that a worker knows', () => {
  test.each<[string, Partial<LeadConfig>]>([
    ['an earlier edition of the lead', { edition: 1 }],
    ['an edition of an earlier lead', { epoch: 2, edition: 9 }],
    ['an edition of an older session with the same id', { createdAt: 99, epoch: 9, edition: 9 }],
  ])('is not replaced by %s', async (_, change) => {
    const { known, put } = worker();
    await known.refresh('s_1');
    put({ ...change, mode: 'bypassPermissions' });
    expect(await known.refresh('s_1')).toMatchObject({ mode: 'default', edition: 2 });
  });

  test.each<[string, Partial<LeadConfig>]>([
    ['the next edition of the lead', { edition: 3 }],
    ['the first edition of the next lead', { epoch: 4, edition: 1 }],
    ['an edition of a new session with the same id', { createdAt: 101, epoch: 1, edition: 1 }],
  ])('is replaced by %s', async (_, change) => {
    const { known, put } = worker();
    await known.refresh('s_1');
    put({ ...change, mode: 'plan' });
    expect(await known.refresh('s_1')).toMatchObject({ mode: 'plan' });
  });

  test('is refused if a newer version is required', async () => {
    const { known, put } = worker();
    const config = await known.refresh('s_1');
    known.requireVersion(config, { createdAt: 100, epoch: 2, edition: 9 });
    known.requireVersion(config, CONFIG);
    expect(() => known.requireVersion(config, { ...CONFIG, edition: 3 })).toThrow(StaleConfigError);
    // A required version stays required.
    expect(() => known.requireVersion(config, CONFIG)).toThrow(StaleConfigError);
    put({ epoch: 4, edition: 1 });
    known.requireVersion(await known.refresh('s_1'), CONFIG);
  });

  test('is not a config with the signature of a stranger or for another swarm', async () => {
    const { known, put } = worker();
    put({ edition: 3 }, generateKeyPairSync('ed25519').privateKey);
    await expect(known.refresh('s_1')).rejects.toMatchObject({ code: 'usage' });
    put({ edition: 3, session: 's_2' });
    await expect(known.refresh('s_1')).rejects.toMatchObject({ code: 'usage' });
  });

  test('is passed to all followers once, after a hint or a refresh', async () => {
    const { known, put, received, follow, hint } = worker();
    await known.refresh('s_1');
    const end = follow();
    put({ edition: 3, mode: 'plan' });
    hint();
    hint();
    await expect.poll(() => received).toEqual(['default', 'plan']);
    put({ edition: 4, mode: 'bypassPermissions' }, generateKeyPairSync('ed25519').privateKey);
    hint();
    put({ edition: 5, mode: 'acceptEdits' });
    await known.refresh('s_1');
    end();
    put({ edition: 6, mode: 'default' });
    await known.refresh('s_1');
    expect(received).toEqual(['default', 'plan', 'acceptEdits', 'ended']);
  });
});
