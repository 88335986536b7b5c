import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  KnownLeadConfigs,
  StaleConfigError,
} from '../../../src/sdk/lead-config/known-lead-configs.js';
import {
  type LeadConfig,
  signLeadConfig,
} from '../../../src/sdk/lead-config/signed-lead-config.js';

const person = generateKeyPairSync('ed25519');
const publicKey = person.publicKey.export({ format: 'der', type: 'spki' }).toString('base64url');

const TERMS: LeadConfig = {
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

/** What lies in a store, and who follows it. */
const worker = () => {
  let bytes = signLeadConfig(TERMS, person.privateKey);
  const known = new KnownLeadConfigs(
    async () => bytes,
    () => [publicKey],
  );
  let heard = () => {};
  const told: string[] = [];
  const follow = () =>
    known.follow(
      's_1',
      (listener) => {
        heard = listener;
        return () => told.push('ended');
      },
      ({ mode }) => told.push(mode),
    );
  return {
    known,
    told,
    follow,
    hint: () => heard(),
    put(change: Partial<LeadConfig>, key = person.privateKey) {
      bytes = signLeadConfig({ ...TERMS, ...change }, key);
    },
  };
};

describe('what a worker knows of how a lead was started', () => {
  test.each<[string, Partial<LeadConfig>]>([
    ['an earlier word of the lead', { edition: 1 }],
    ['a word of an earlier lead', { epoch: 2, edition: 9 }],
    ['a word of a session that had its name before', { createdAt: 99, epoch: 9, edition: 9 }],
  ])('does not go back to %s', async (_, change) => {
    const { known, put } = worker();
    await known.look('s_1');
    put({ ...change, mode: 'bypassPermissions' });
    expect(await known.look('s_1')).toMatchObject({ mode: 'default', edition: 2 });
  });

  test.each<[string, Partial<LeadConfig>]>([
    ['the next word of the lead', { edition: 3 }],
    ['the first word of the next lead', { epoch: 4, edition: 1 }],
    ['a word of a new session of that name', { createdAt: 101, epoch: 1, edition: 1 }],
  ])('goes on to %s', async (_, change) => {
    const { known, put } = worker();
    await known.look('s_1');
    put({ ...change, mode: 'plan' });
    expect(await known.look('s_1')).toMatchObject({ mode: 'plan' });
  });

  test('does not count where the person has said something since', async () => {
    const { known, put } = worker();
    const terms = await known.look('s_1');
    known.demand(terms, { createdAt: 100, epoch: 2, edition: 9 });
    known.demand(terms, TERMS);
    expect(() => known.demand(terms, { ...TERMS, edition: 3 })).toThrow(StaleConfigError);
    // Whatever else is asked for, what was said has been said.
    expect(() => known.demand(terms, TERMS)).toThrow(StaleConfigError);
    put({ epoch: 4, edition: 1 });
    known.demand(await known.look('s_1'), TERMS);
  });

  test('is not what a stranger has signed, or what was meant for another swarm', async () => {
    const { known, put } = worker();
    put({ edition: 3 }, generateKeyPairSync('ed25519').privateKey);
    await expect(known.look('s_1')).rejects.toMatchObject({ code: 'usage' });
    put({ edition: 3, session: 's_2' });
    await expect(known.look('s_1')).rejects.toMatchObject({ code: 'usage' });
  });

  test('is told to those who follow it, whoever looked, and each thing once', async () => {
    const { known, put, told, follow, hint } = worker();
    await known.look('s_1');
    const end = follow();
    put({ edition: 3, mode: 'plan' });
    hint();
    hint();
    await expect.poll(() => told).toEqual(['default', 'plan']);
    put({ edition: 4, mode: 'bypassPermissions' }, generateKeyPairSync('ed25519').privateKey);
    hint();
    put({ edition: 5, mode: 'acceptEdits' });
    await known.look('s_1');
    end();
    put({ edition: 6, mode: 'default' });
    await known.look('s_1');
    expect(told).toEqual(['default', 'plan', 'acceptEdits', 'ended']);
  });
});
