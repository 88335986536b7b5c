import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type LeadConfig,
  readLeadConfig,
  signLeadConfig,
} from '../../../src/sdk/lead-config/lead-config.js';

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
  flags: { model: 'm' },
};

const read = (bytes: Uint8Array) => readLeadConfig(bytes, 's_1', [publicKey]);

/** Signs a config as another version might. */
const signed = (config: object) => signLeadConfig(config as LeadConfig, person.privateKey);

const sentence = (which: string) =>
  `Session s_1 was started with ${which} version of skein than this worker has: use the same version for both.`;

describe('a lead config', () => {
  test('is read as signed', () => {
    expect(read(signed(CONFIG))).toEqual(CONFIG);
  });

  test.each([
    ['an older', { v: 1, session: 's_1', flags: {} }],
    ['an older', { ...CONFIG, v: 1 }],
    ['a newer', { ...CONFIG, v: 3, mood: 'good' }],
    ['a newer', { v: 12 }],
    ['another', { ...CONFIG, mood: 'good' }],
    ['another', { ...CONFIG, flags: { ...CONFIG.flags, forbidAll: true } }],
    ['another', { ...CONFIG, mode: 'careful' }],
  ])('is refused if %s version has signed it', (which, config) => {
    expect(() => read(signed(config))).toThrow(sentence(which));
  });

  test('is refused as damaged if no version could have written it', () => {
    for (const text of ['', '{', 'null', '{}', '{"v":2}', '{"v":"2","signature":"x"}']) {
      expect(() => read(Buffer.from(text))).toThrow(
        'The config that session s_1 was started with is damaged.',
      );
    }
  });

  test('is refused if fields were added to it', () => {
    const text = Buffer.from(signed(CONFIG)).toString();
    const more = { ...JSON.parse(text), flags: { ...CONFIG.flags, bare: true } };
    expect(() => read(Buffer.from(JSON.stringify(more)))).toThrow(/whose key this worker/);
  });
});
