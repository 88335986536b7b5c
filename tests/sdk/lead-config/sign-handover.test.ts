import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { signLeadConfig } from '../../../src/sdk/lead-config/lead-config.js';
import { signHandover, verifyHandover } from '../../../src/sdk/lead-config/sign-handover.js';

const person = generateKeyPairSync('ed25519');
const publicKey = person.publicKey.export({ format: 'der', type: 'spki' }).toString('base64url');

const HANDOVER = { session: 's_1', createdAt: 100, epoch: 3, edition: 2, agent: 'a_1', at: 7 };
const PARENTS = new Map([
  ['a_2', 'a_1'],
  ['a_3', 'a_2'],
  ['a_5', 'a_6'],
  ['a_6', 'a_5'],
]);

/** Returns the version that applies to this agent under this handover. */
const under = (handover: string, job: { readonly id?: string; readonly at?: number } = {}) =>
  verifyHandover({ id: 'a_1', swarm: 's_1', at: 7, handover, ...job }, [publicKey], async (agent) =>
    PARENTS.get(agent),
  );

const signed = (change: Partial<typeof HANDOVER> = {}, key = person.privateKey) =>
  signHandover({ ...HANDOVER, ...change }, key);

describe('a signed handover', () => {
  test('returns the minimum config version', async () => {
    expect(await under(signed())).toMatchObject({ createdAt: 100, epoch: 3, edition: 2 });
  });

  test('is valid for all descendants of the agent', async () => {
    expect(await under(signed(), { id: 'a_2', at: 1 })).toMatchObject({ epoch: 3 });
    expect(await under(signed(), { id: 'a_3', at: 1 })).toMatchObject({ epoch: 3 });
  });

  test.each<[string, string, Parameters<typeof under>[1]]>([
    ['an agent outside of the descendants', signed(), { id: 'a_4' }],
    ['an agent with circular parents', signed(), { id: 'a_5' }],
    ['the same agent at another time', signed(), { at: 8 }],
    ['an agent of another session', signed({ session: 's_2' }), {}],
    ['any agent if a stranger has signed it', signed({}, newKey()), {}],
    ['any agent if it was changed', signed().replace('"epoch":3', '"epoch":2'), {}],
    ['any agent if it was signed for another purpose', otherKind(), {}],
    ['any agent if it is empty', '', {}],
  ])('is not valid for %s', async (_, handover, job) => {
    await expect(under(handover, job)).rejects.toThrow(/was not handed over by its lead/);
  });
});

function newKey() {
  return generateKeyPairSync('ed25519').privateKey;
}

function otherKind() {
  return Buffer.from(signLeadConfig(HANDOVER as never, person.privateKey)).toString();
}
